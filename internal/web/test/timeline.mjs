// The timeline: colours of pixels are compared with the calls that efg timeline lists.

import assert from "node:assert/strict";

// legend gives the colour of each procedure as the page's legend has it.
const legend = (page) => page.tab.$$eval(".legend.wide li", (list) => Object.fromEntries(list.map((e) => [
  e.textContent.replace(/ ([\d.]+%|apart)$/, ""), getComputedStyle(e.querySelector(".swatch")).backgroundColor.match(/\d+/g).map(Number),
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
  await page.open("#/runs/traced/timeline?plain=1", "[data-ready=timeline]");
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
  await page.open(`#/runs/traced/timeline?plain=1&from=${call.start - length}&to=${call.end + length}`, "[data-ready=timeline]");
  const at = await samePixels(page, ranks, 10);
  const box = await page.tab.locator("[data-ready=timeline]").boundingBox();
  await page.tab.mouse.move(box.x + at.left + at.width / 2, box.y + at.top + at.row / 2);
  await page.settled(() => document.querySelector("output.hover").textContent.includes("took"));
  assert.match(await page.text("output.hover"), /^rank 0, .*: MPI_Waitall exchange in main jacobi.c:\d+, from .*, took /);
  await page.shot("timeline-zoomed");
}

// Waits are hatched over the calls, messages are lines; Enter goes to what is waited for, Backspace back.
async function flows(page) {
  await page.open("#/runs/delays/timeline", "canvas[data-flows]");
  const all = await page.tab.evaluate(async () => (await fetch("v1/runs/delays/flows?most=2000")).json());
  const waits = page.document("waits", "delays");
  assert.equal(all.wait_count, waits.states.reduce((n, s) => n + s.waits, 0));
  assert.equal(all.message_count, waits.matched.messages);
  assert.equal(await page.tab.getAttribute("canvas[data-flows]", "data-flows"), `${all.message_count} ${all.wait_count}`);

  // The critical path is a line over the ranks that it is on.
  await page.ready("canvas[data-path]");
  assert.equal(await page.tab.getAttribute("canvas[data-path]", "data-path"), String(waits.path.segments.length));
  const line = await page.tab.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue("--path"));
  const drawn = await page.tab.$eval(".timeline canvas", (e) => ({ ...e.dataset, wide: e.getBoundingClientRect().width }));
  const scale = (drawn.wide - drawn.left - 4) / (drawn.to - drawn.from);
  const long = waits.path.segments.filter(([, a, b]) => a >= drawn.from && b <= drawn.to && (b - a) * scale > 20);
  assert.ok(long.length > 3);
  const middles = long.map(([rank, a, b]) => [Number(drawn.left) + ((a + b) / 2 - drawn.from) * scale, Number(drawn.top) + (rank + 0.5) * drawn.row]);
  for (const [i, colour] of (await page.pixels(".timeline canvas", middles)).entries()) {
    const want = [1, 3, 5].map((k) => parseInt(line.trim().slice(k, k + 2), 16));
    assert.ok(colour.every((v, k) => Math.abs(v - want[k]) < 60), `segment ${i}: ${colour}`);
  }

  // The planted late sender: rank 0 sends late to rank 1.
  const late = all.states.findIndex((s) => s.state === "late-sender");
  const [, , , begin, end] = all.waits.filter((w) => w[5] === late && w[0] === 1 && w[6] === 0).toSorted((a, b) => b[4] - b[3] - (a[4] - a[3]))[0];
  const length = end - begin;
  const section = `from=${begin - length}&to=${end + 2 * length}`;
  const look = async (query) => {
    await page.open(`#/runs/delays/timeline?${query}`, query.includes("plain") ? "[data-ready=timeline]" : "canvas[data-flows]");
    const at = await page.tab.$eval(".timeline canvas", (e) => ({ ...e.dataset, wide: e.getBoundingClientRect().width }));
    const [left, top, row, from, to] = [at.left, at.top, at.row, at.from, at.to].map(Number);
    const x = (t) => left + ((t - from) / (to - from)) * (at.wide - left - 4);
    const inside = Array.from({ length: 30 }, (_, i) => [x(begin) + 5 + i, top + 1.5 * row]);
    return { x, y: (rank) => top + (rank + 0.5) * row, colours: new Set((await page.pixels(".timeline canvas", inside)).map(String)) };
  };
  const plain = await look(`plain=1&${section}`);
  assert.equal(plain.colours.size, 1, "a call has one colour");
  const hatched = await look(section);
  assert.ok(hatched.colours.size > 3, "a wait is hatched");

  const box = await page.tab.locator(".timeline canvas").boundingBox();
  const [x, y] = [hatched.x((begin + end) / 2), hatched.y(1)];
  await page.tab.mouse.move(box.x + x, box.y + y);
  await page.settled(() => document.querySelector("output.hover").textContent.includes("waits"));
  assert.match(await page.text("output.hover"), /^rank 1, .*MPI_Recv messages .*; late sender: waits [\d.]+ ms for rank 0 in MPI_Send messages .*delays\.c:\d+$/);
  await page.shot("timeline-flows");
  await page.tab.mouse.click(box.x + x, box.y + y);
  await page.settled(() => document.querySelector(".timeline canvas").dataset.chosen?.startsWith("1 "));
  await page.tab.keyboard.press("Enter");
  await page.settled((t) => document.querySelector(".timeline canvas").dataset.chosen === `0 ${t}`, end);
  await page.tab.keyboard.press("Backspace");
  await page.settled(() => document.querySelector(".timeline canvas").dataset.chosen?.startsWith("1 "));
  for (const [key, factor] of [["w", 0.5], ["s", 2]]) {
    const width = () => page.tab.$eval(".timeline canvas", (e) => Number(e.dataset.to) - Number(e.dataset.from));
    const before = await width();
    await page.tab.keyboard.press(key);
    await page.settled(([b, f]) => {
      const { from, to } = document.querySelector(".timeline canvas").dataset;
      return Math.abs((to - from) / b - f) < 0.01;
    }, [before, factor]);
  }
}

// The first view begins after MPI_Init and ends before MPI_Finalize; rows can be in the order of their
// waiting; collective calls are bands, and say on which communicator.
async function rows(page) {
  await page.open("#/runs/delays/timeline", "canvas[data-flows]");
  const shown = () => page.tab.$eval(".timeline canvas", (e) => [Number(e.dataset.from), Number(e.dataset.to)]);
  const view = page.document("timeline", "delays");
  assert.ok(view.begin < view.work[0] && view.work[1] < view.end);
  assert.deepEqual(await shown(), view.work);
  await page.tab.click("text=all of it");
  await page.settled((begin) => Number(document.querySelector("[data-ready=timeline]")?.dataset.from) === begin, view.begin);
  assert.deepEqual(await shown(), [view.begin, view.end]);
  await page.tab.click("text=without MPI_Init and MPI_Finalize");
  await page.settled((from) => Number(document.querySelector("[data-ready=timeline]")?.dataset.from) === from, view.work[0]);

  const all = await page.tab.evaluate(async () => (await fetch("v1/runs/delays/flows?most=2000")).json());
  const waiting = page.document("waits", "delays").by_rank.toSorted((a, b) => b.waiting - a.waiting || a.rank - b.rank).map((r) => r.rank);
  const band = all.collectives.filter((c) => c.op === "MPI_Barrier").toSorted((a, b) => b.parts[0][2] - b.parts[0][1] - (a.parts[0][2] - a.parts[0][1]))[0];
  const [begin, end] = [Math.min(...band.parts.map((p) => p[1])), Math.max(...band.parts.map((p) => p[2]))];
  await page.open(`#/runs/delays/timeline?order=waiting&from=${begin}&to=${end}`, "canvas[data-flows]");
  const at = await page.tab.$eval(".timeline canvas", (e) => ({ ...e.dataset, wide: e.getBoundingClientRect().width }));
  const box = await page.tab.locator(".timeline canvas").boundingBox();
  for (const [i, rank] of waiting.entries()) {
    const [, entered, left] = band.parts.find(([r]) => r === rank);
    const x = Number(at.left) + (((entered + left) / 2 - at.from) / (at.to - at.from)) * (at.wide - at.left - 4);
    await page.tab.mouse.move(box.x + x, box.y + Number(at.top) + (i + 0.5) * at.row);
    await page.settled((r) => document.querySelector("output.hover").textContent.startsWith(`rank ${r},`), rank);
    assert.match(await page.text("output.hover"), /: MPI_Barrier .*; MPI_Barrier of 4 ranks on MPI_COMM_WORLD/);
    if (i === 0) await page.tab.mouse.click(box.x + x, box.y + Number(at.top) + (i + 0.5) * at.row);
  }
  await page.settled(() => decodeURIComponent(location.hash).includes("s.comm=MPI_COMM_WORLD"));
  await page.shot("timeline-rows");
  await classes(page);
}

// Rows can be of classes of ranks: each rank is in one row, and a click selects those of a row.
async function classes(page) {
  await page.open("#/runs/ring/timeline", "[data-ready=timeline]");
  await page.tab.click("label:has(input[name=order][value=class])");
  const view = page.document("timeline", "ring", "--by", "class", "--width", "200");
  await page.settled((n) => document.querySelector("[data-ready=timeline]")?.getAttribute("aria-label").includes(n), `${view.rows.length} row`);
  assert.ok(view.rows.length < 10 && view.rows.reduce((n, [, , ranks]) => n + ranks, 0) === 64, `rows ${view.rows}`);
  const at = await page.tab.$eval("[data-ready=timeline]", (e) => ({ ...e.dataset }));
  const box = await page.tab.locator("[data-ready=timeline]").boundingBox();
  const several = view.rows.findIndex(([, , ranks]) => ranks > 1);
  const [x, y] = [box.x + Number(at.left) + 40, box.y + Number(at.top) + (several + 0.5) * at.row];
  await page.tab.mouse.move(x, y);
  await page.settled((ranks) => document.querySelector("output.hover").textContent.startsWith(`ranks ${ranks},`), view.members[several]);
  await page.tab.mouse.click(x, y);
  await page.settled((ranks) => new URLSearchParams(location.hash.split("?")[1]).get("s.ranks") === ranks, view.members[several]);
  await page.shot("timeline-classes");
}

// partly has the server's answers about a timeline have only the first row, then two, and so
// on, as of a run of very many calls. Each waits until gate says so.
async function partly(page, gate) {
  const state = { asked: 0 };
  await page.tab.route("**/timeline?*", async (route) => {
    const n = ++state.asked;
    await gate(n);
    const answer = await route.fetch().catch(() => null); // the page has left
    if (!answer) return;
    const body = await answer.body();
    const end = body.indexOf(10);
    const head = JSON.parse(body.subarray(0, end));
    if (n >= head.rows.length) return route.fulfill({ response: answer, body });
    head.complete = false;
    const pixels = Buffer.from(body.subarray(end + 1));
    pixels.fill(254, n * head.width, head.rows.length * head.width);
    await route.fulfill({ response: answer, body: Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), pixels]) }).catch(() => {});
  });
  return state;
}

// A timeline of very many calls comes step by step, by itself; it can be stopped, goes on, and
// ends with the page.
async function steps(page) {
  const gates = new Map();
  const open = (n) => {
    if (!gates.has(n)) {
      let go;
      const wait = new Promise((done) => (go = done));
      gates.set(n, { wait, go });
    }
    return gates.get(n);
  };
  const state = await partly(page, (n) => open(n).wait);
  open(1).go();
  await page.open("#/runs/traced/timeline?plain=1", "[data-figure=looked]");
  assert.match(await page.text("[data-figure=looked]"), /25% looked at\s+stop/);
  open(2).go(); // asked for by itself
  await page.settled(() => document.querySelector("[data-figure=looked]").textContent.includes("50% looked at"));
  await page.shot("timeline-steps");
  await page.tab.click("[data-figure=looked] button");
  open(3).go(); // was asked for before it was stopped
  await page.settled(() => document.querySelector("[data-figure=looked]").textContent.includes("75% looked at"));
  await page.settled(() => document.querySelector("[data-figure=looked] button").textContent === "go on");
  assert.equal(state.asked, 3);
  await page.tab.click("[data-figure=looked] button");
  open(4).go();
  await page.settled(() => document.querySelector("[data-ready=timeline]") && !document.querySelector("[data-figure=looked]"));
  await samePixels(page, callsOf(page, "traced").ranks, 300);

  state.asked = 0;
  gates.clear();
  open(1).go();
  await page.open("#/runs/traced/timeline?plain=1", "[data-figure=looked]");
  const failed = page.tab.waitForEvent("requestfailed", (r) => r.url().includes("/timeline?"));
  await page.tab.click("nav.tabs a[data-tab=matrix]");
  await failed; // the question that was asked is taken back
  await page.ready("[data-ready=matrix]");
  assert.equal(state.asked, 2);
  open(2).go();
}

// Without the times of each call it says why there is nothing.
async function untimed(page) {
  await page.open("#/runs/jacobi/timeline", "main code");
  assert.match(await page.text("main .note"), /A timeline needs the time of each call; this run was recorded with --time stats/);
}

export const timelineChecks = { flows, timeline, "timeline: rows": rows, "timeline: step by step": steps, "timeline: without times": untimed };
