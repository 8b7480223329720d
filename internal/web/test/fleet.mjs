// What the page shows of all runs together.

import assert from "node:assert/strict";
import { grouped, nanos, percent } from "../src/format.js";

async function fleet(page) {
  await page.open("#/", "[data-table=runs]");
  await page.tab.click("text=compare all");
  await page.settled(() => document.querySelector("[data-ready=fleet]"));
  const doc = await page.tab.evaluate(async () => (await fetch("v1/fleet?top=0")).json());
  const small = (await page.tab.evaluate(async () => (await fetch("v1/runs")).json())).runs.filter((r) => r.ranks < 1000);
  const said = JSON.parse(page.efg("fleet", "--json", "--top", "0", ...small.map((r) => page.file(r.name))));
  const jacobi = (list) => list.find((p) => p.name === "jacobi");
  assert.deepEqual(jacobi(doc.programs), jacobi(said.programs));
  const uses = (rows, head) => rows.map((r) => [r[head], r.runs, r.ranks, r["of all"]]);
  const wanted = (list) => list.map((u) => [u.name, grouped(u.runs), grouped(u.ranks), u.timed ? percent(u.lost, u.elapsed) : "-"]);
  assert.deepEqual(uses(await page.table("programs"), "program").sort(), wanted(doc.programs).sort());
  assert.deepEqual(uses(await page.table("users"), "user"), wanted(doc.users));
  assert.match(await page.text("[data-ready=fleet] .note"), new RegExp(`^${doc.runs} runs of ${doc.programs.length} programs`));
  if (doc.slower.length) {
    const rows = await page.table("slower");
    assert.deepEqual(rows.map((r) => [r.run, r.than, r.time, r.before]), doc.slower.map((c) => [c.run.run, c.before.run, nanos(c.run.time), nanos(c.before.time)]));
  }
  await page.shot("fleet");
  await page.open("#/fleet?slower=1000000", "[data-ready=fleet]");
  assert.match(await page.text("[data-ready=fleet]"), /Slower than the runs before\s*none/);
}

export const fleetChecks = { fleet };
