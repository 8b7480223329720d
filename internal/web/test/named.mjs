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

export const namedChecks = { counters, regions };
