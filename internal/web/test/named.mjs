// What the page shows of counters, and of the regions that programs name.

import assert from "node:assert/strict";
import { grouped, nanos, percent } from "../src/format.js";

async function counters(page) {
  await page.open("#/runs/regions/efficiency", "[data-ready=counters]");
  const doc = page.document("report", "regions", "--counters");
  const text = { "page-faults": grouped, "task-clock": nanos };
  const totals = await page.table("counters");
  assert.deepEqual(totals.map((r) => [r.counter, r["in calls"], r["before calls"]]), doc.counters.map((c) => [c.name, text[c.name](c.calls), text[c.name](c.before)]));
  const rows = await page.table("counted");
  const want = doc.rows.map((r) => [r.op, grouped(r.events), grouped(r.values[0].calls.sum), grouped(r.values[0].before.sum), nanos(r.values[1].calls.sum), nanos(r.values[1].before.sum)]);
  const got = rows.map((r) => [r.procedure, r.calls, r["page-faults"], r["page-faults before"], r["task-clock"], r["task-clock before"]]);
  assert.deepEqual(got.map(String).sort(), want.map(String).sort());
  const zones = await page.table("energy");
  assert.deepEqual(zones.map((z) => [z.counter, z.energy, z.time, z.machine]), doc.energy.zones.map((z) => [z.zone, "0.00 J", `${z.seconds.toFixed(3)} s`, z.host]));
  assert.equal(zones.length, 1);
  await page.shot("counters");
  await page.open("#/runs/jacobi/efficiency", "[data-ready=efficiency]");
  assert.equal(await page.tab.locator("[data-ready=counters], [data-ready=region-parts]").count(), 0);
}

async function regions(page) {
  await page.open("#/runs/regions/efficiency", "[data-ready=region-parts]");
  const want = page.document("efficiency", "regions", "--regions").runs[0].regions;
  const rows = await page.table("region-parts");
  const name = (r) => (r.region.length ? r.region.at(-1) : "outside of regions");
  assert.deepEqual(rows.map((r) => [r.region, r.time, r.parallel, r["of rank"]]), want.map((r) => [name(r), nanos(r.time), percent(r.parallel, 1), String(r.most_rank)]));
  await page.open("#/runs/regions/phases", "[data-table=regions]");
  const report = page.document("report", "regions", "--by", "region").regions;
  const phases = await page.table("regions");
  assert.deepEqual(phases.map((r) => [r.region, r.visits, r.calls]), report.map((r) => [name(r), grouped(r.visits), grouped(r.all.calls)]));
  await page.shot("regions");
}

// visitsIn are the visits of each rank's main thread as its calls say, one after the other.
function visitsIn(page, name) {
  const ranks = [];
  for (const line of page.efg("reconstruct", "--format", "jsonl", page.file(name)).trim().split("\n")) {
    const e = JSON.parse(line);
    const main = (ranks[e.rank] ??= { first: e.thread ?? 0, open: [], visits: [] });
    if ((e.thread ?? 0) !== main.first) continue;
    if (e.op === "efg_region_begin") main.open.push({ name: e.args.name, depth: main.open.length, begin: e.t0 });
    if (e.op === "efg_region_end" && main.open.length) main.visits.push({ ...main.open.pop(), end: e.t1 });
  }
  return ranks.map((r) => r.visits);
}

const drawnAs = (page, selector) => page.tab.$eval(selector, (e) => ({ ...e.dataset, wide: e.getBoundingClientRect().width }));
const colourOf = (page) => page.tab.$$eval(".legend.regions li", (list) => Object.fromEntries(list.map((e) => [e.textContent, getComputedStyle(e.querySelector(".swatch")).backgroundColor.match(/\d+/g).map(Number)])));

// Regions are bands above the calls of each rank, where its calls say that they begin and end.
async function bands(page) {
  const { begin, end } = page.document("timeline", "named");
  await page.open(`#/runs/named/timeline?from=${begin}&to=${end}`, "[data-ready=timeline-regions]");
  const report = page.document("report", "named", "--by", "region").regions.filter((r) => r.region.length);
  const rows = await page.table("timeline-regions");
  assert.deepEqual(rows.map((r) => [r.region, r.visits]).sort(), report.map((r) => [r.region.at(-1), grouped(r.visits)]).sort());
  await page.shot("timeline-regions-threads");

  await page.open("#/runs/steps/timeline?ranks=0-3", "canvas[data-lanes][data-flows]");
  await page.ready("[data-ready=timeline-regions]");
  const at = await drawnAs(page, "canvas[data-lanes]");
  const [left, top, row, from, to] = [at.left, at.top, at.row, at.from, at.to].map(Number);
  const [lanes, height] = at.lanes.split(" ").map(Number);
  assert.equal(lanes, 2);
  const x = (t) => left + ((t - from) / (to - from)) * (at.wide - left - 4);
  const places = [], want = [], colours = await colourOf(page);
  visitsIn(page, "steps").slice(0, 4).forEach((list, rank) => {
    for (const v of list) {
      const y = top + rank * row + v.depth * height + 2;
      places.push([x(v.begin) + 2, y], [x(v.end) - 2, y]);
      want.push(colours[v.name], colours[v.name]);
    }
  });
  assert.ok(places.length > 100);
  assert.deepEqual(await page.pixels("canvas[data-lanes]", places), want);
  await page.shot("timeline-regions");

  // A band says what it is, and a click selects its region everywhere.
  const solve = visitsIn(page, "steps")[2].find((v) => v.name === "solve");
  const box = await page.tab.locator("canvas[data-lanes]").boundingBox();
  const place = [box.x + x((solve.begin + solve.end) / 2), box.y + top + 2 * row + 1.5 * height];
  await page.tab.mouse.move(...place);
  await page.settled(() => document.querySelector("output.hover").textContent.includes("region"));
  assert.match(await page.text("output.hover"), /^rank 2: region step\/solve, from .*, took 3\.\d+ ms$/);
  await page.tab.mouse.click(...place);
  await page.ready(".selection [data-part=region]");
  assert.ok((await page.hash()).includes("s.region=step%2Fsolve"));
  await page.ready("[data-table=timeline-regions] tr.linked");
  await page.tab.click(".selection .see a:has-text('phases')");
  await page.ready("[data-table=regions] tr.linked");
  assert.equal(await page.tab.$eval("[data-table=regions] tr.linked td", (e) => e.textContent), "solve");

  // Where rows are low, the regions of one rank are above all of them.
  await page.open("#/runs/steps/timeline", "canvas[data-strip]");
  assert.equal(await page.tab.getAttribute("canvas[data-strip]", "data-strip"), "0");
  const low = await drawnAs(page, "[data-ready=timeline]");
  assert.equal(low.lanes, undefined);
  const step = visitsIn(page, "steps")[0].find((v) => v.name === "step");
  const on = Number(low.left) + ((step.begin + step.end) / 2 - low.from) / (low.to - low.from) * (low.wide - low.left - 4);
  assert.deepEqual(await page.pixels("canvas[data-strip]", [[on, 2]]), [(await colourOf(page)).step]);
  await page.tab.hover("canvas[data-strip]", { position: { x: on, y: 4 } });
  await page.settled(() => document.querySelector("output.hover").textContent.startsWith("rank 0: region step"));
  await page.shot("timeline-regions-strip");
  await page.tab.click("[data-ready=timeline]", { position: { x: on, y: Number(low.top) + 40.5 * low.row } });
  await page.ready("canvas[data-strip='40']");

  await page.open("#/runs/steps/timeline?plain=1", "[data-ready=timeline]");
  assert.equal(await page.tab.locator("canvas[data-strip], [data-table=timeline-regions]").count(), 0);
}

export const namedChecks = { bands, counters, regions };
