// The timeline: colours of pixels are compared with the calls that efg timeline lists.

import assert from "node:assert/strict";

// legend gives the colour of each procedure as the page's legend has it.
const legend = (page) => page.tab.$$eval(".legend.wide li", (list) => Object.fromEntries(list.map((e) => [
  e.textContent.replace(/ [\d.]+%$/, ""), getComputedStyle(e.querySelector(".swatch")).backgroundColor.match(/\d+/g).map(Number),
])));

// callsOf are all calls of the run by rank, one by one; the page draws pixels of sums.
function callsOf(page, name) {
  const view = JSON.parse(page.efg("timeline", "--json", "--slices", "100000", page.file(name)).split("\n")[0]);
  const ranks = [];
  for (const [rank, , start, end, proc] of view.slices) (ranks[rank] ??= []).push({ start, end, op: view.legend[proc - 1]?.op });
  return { view, ranks };
}

// only tells in which procedure all of a stretch of time lies: "outside MPI" if in none;
// nothing if it is not all of it.
function only(calls, from, to) {
  const inside = calls.filter((c) => c.end > from && c.start < to);
  if (inside.length === 0) return from > calls[0].start && to < calls.at(-1).end ? "outside MPI" : undefined;
  return inside.length === 1 && inside[0].start <= from && inside[0].end >= to ? inside[0].op : undefined;
}

// samePixels compares pixels with the calls there, where one call takes some pixels.
async function samePixels(page, ranks, least) {
  const colours = await legend(page);
  const at = await page.tab.$eval("[data-ready=timeline]", (e) => ({ ...e.dataset, wide: e.getBoundingClientRect().width }));
  const [left, top, row, from, to] = [at.left, at.top, at.row, at.from, at.to].map(Number);
  const width = at.wide - left - 4;
  const pixel = (to - from) / width;
  const places = [], want = [];
  ranks.forEach((calls, rank) => {
    for (let x = 4.5; x < width - 4; x += 5) {
      const t = from + x * pixel;
      const op = only(calls, t - 3 * pixel, t + 3 * pixel);
      if (!op) continue;
      places.push([left + x, top + (rank + 0.5) * row]);
      want.push(op);
    }
  });
  assert.ok(places.length > least, `${places.length} places`);
  const got = await page.pixels("[data-ready=timeline]", places);
  want.forEach((op, i) => assert.deepEqual(got[i], colours[op], `${op} at ${places[i]}`));
  return { left, top, row, from, to, width };
}

async function timeline(page) {
  const { view, ranks } = callsOf(page, "traced");
  await page.open("#/runs/traced/timeline", "[data-ready=timeline]");
  assert.deepEqual(Object.keys(await legend(page)).filter((k) => k.startsWith("MPI_")).sort(), view.legend.map((p) => p.op).sort());
  const at = await samePixels(page, ranks, 300);
  await page.shot("timeline");

  await page.tab.focus("[data-ready=timeline]");
  await page.tab.keyboard.press("+");
  await page.settled(() => /from=\d+&to=\d+/.test(location.hash) && document.querySelector("[data-ready=timeline]"));
  const first = await samePixels(page, ranks, 100);
  assert.ok(Math.abs((first.to - first.from) / (at.to - at.from) - 0.5) < 0.01);
  await page.tab.keyboard.press("0");
  await page.settled(() => !location.hash.includes("from="));
  await pointed(page, ranks);
}

// pointed looks closely at one call, which is not so long that there are many around it,
// and points at it.
async function pointed(page, ranks) {
  const waits = ranks[0].filter((c) => c.op === "MPI_Waitall").toSorted((a, b) => a.end - a.start - (b.end - b.start));
  const call = waits[Math.floor(waits.length / 2)];
  const length = call.end - call.start;
  await page.open(`#/runs/traced/timeline?from=${call.start - length}&to=${call.end + length}`, "[data-ready=timeline]");
  const at = await samePixels(page, ranks, 10);
  const box = await page.tab.locator("[data-ready=timeline]").boundingBox();
  await page.tab.mouse.move(box.x + at.left + at.width / 2, box.y + at.top + at.row / 2);
  await page.settled(() => document.querySelector("output.hover").textContent.includes("took"));
  assert.match(await page.text("output.hover"), /^rank 0, .*: MPI_Waitall exchange in main jacobi.c:\d+, from .*, took /);
  await page.shot("timeline-zoomed");
}

// Without the times of each call it says why there is nothing.
async function untimed(page) {
  await page.open("#/runs/jacobi/timeline", "main code");
  assert.match(await page.text("main .note"), /A timeline needs the time of each call; this run was recorded with --time stats/);
}

export const timelineChecks = { timeline, "timeline: without times": untimed };
