// Jobs that go on: they appear, are followed, and become runs, without anything being
// reloaded.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bytes, plural } from "../src/format.js";
import { findings } from "./access.mjs";

// launch starts the program, recorded by the daemon.
function launch(page, ranks, ...args) {
  const { preload, spool, launch: launcher, program } = page.config.live;
  const env = { ...process.env, LD_PRELOAD: preload, EFG_SPOOL: spool };
  const job = spawn(launcher, ["--oversubscribe", "-n", String(ranks), program, ...args], { env, stdio: "ignore" });
  job.ended = new Promise((done) => job.on("exit", done));
  return job;
}

// follow waits for a running job in the list, and goes to it as a user would.
async function follow(page, ranks, words) {
  const row = page.tab.locator("[data-table=runs] tbody tr", { hasText: `running, ${ranks} of ${ranks} processes` }).filter({ has: page.tab.locator(`td[title*="${words}"], td:has-text("${words}")`) });
  await row.waitFor();
  await row.click();
  await page.ready("[data-ready=live]");
}

// changing are answers about a job just when it has become a run, or while a snapshot is
// replaced.
const changing = ["404", "503"];

// allStored waits until the list has runs, and no job that is not stored.
function allStored(page) {
  return page.settled(() => {
    const states = [...document.querySelectorAll("[data-table=runs] .state")];
    return states.length > 0 && states.every((s) => s.matches(".good, .bad, .cut"));
  });
}

const rows = (page) => page.table("live-ranks");

async function follows(page) {
  await page.open("#/", "main .note");
  assert.match(await page.text("main .note"), /Nothing has been recorded yet/);
  page.expected.push(...changing);
  const file = join(page.config.runs, "hold");
  writeFileSync(file, "");
  const job = launch(page, 3, "hold", file);
  await follow(page, 3, "stuck hold");
  await page.settled(() => document.querySelectorAll("[data-table=live-ranks] tbody tr").length === 3 && document.querySelector("[data-table=live-ranks]").textContent.includes("MPI_Barrier"));
  const first = await rows(page);
  assert.deepEqual(first.map((r) => r.rank), ["0", "1", "2"]);
  assert.deepEqual(first.map((r) => r.doing), ["MPI_Barrier", "MPI_Barrier", "computing, after MPI_Barrier"]);
  assert.deepEqual(first.map((r) => / stuck\.c:\d+$/.test(r.at)), [true, true, true]);
  // The first answer may be about ranks that still begin.
  await page.settled(() => document.querySelector("[data-ready=now] [data-table=where]")?.textContent.includes("MPI_Barrier("));
  assert.deepEqual((await page.table("where")).filter((r) => r.ranks === "0-1").map((r) => [r.doing.split("(")[0], r.awaits]), [["MPI_Barrier", "2"]]);
  // Frames come by themselves.
  await page.settled((was) => document.querySelector("[data-table=live-ranks] tbody td:nth-child(5)").textContent !== was, first[0].for);
  await page.shot("live");
  rmSync(file);
  await job.ended;
  await page.ready("[data-ready=summary]");
  const procedures = await page.table("procedures");
  assert.equal(procedures.find((p) => p.procedure === "MPI_Sendrecv").calls, "15");
  await page.jump("r");
  await allStored(page);
  assert.deepEqual((await page.table("runs")).map((r) => [r.ranks, r.state]), [["3", "complete"]]);
}

// What is recorded so far is shown in all views, and gets newer by itself.
async function soFar(page) {
  page.expected.push(...changing);
  await page.open("#/", "main h1");
  const file = join(page.config.runs, "beat");
  writeFileSync(file, "");
  const job = launch(page, 3, "beat", file);
  await follow(page, 3, "stuck beat");
  await page.ready("[data-table=procedures]");
  const calls = async () => Number((await page.table("procedures")).find((p) => p.procedure === "MPI_Sendrecv")?.calls ?? 0);
  const early = await calls();
  assert.match(await page.text(".so-far"), /^Recorded so far, at \d\d:\d\d:\d\d pause/);
  await page.settled((was) => {
    const row = [...document.querySelectorAll("[data-table=procedures] tbody tr")].find((r) => r.textContent.includes("MPI_Sendrecv"));
    return row && Number(row.cells[1].textContent) > was;
  }, early);
  await page.shot("so-far");
  const run = decodeURIComponent((await page.hash()).split("/")[2]);
  const asked = (what) => page.tab.evaluate(async ([id, w]) => (await fetch(`v1/runs/${encodeURIComponent(id)}/${w}`)).json(), [run, what]);
  for (const [key, ready] of [["m", "[data-ready=matrix]"], ["i", ".plot .u-wrap"], ["g", "[data-ready=graph]"], ["n", "[data-table=ranks] tbody td"], ["l", "main h2"], ["p", "main h2"], ["c", "[data-figure=faults]"], ["d", "[data-table=diff-classes]"]]) {
    await page.jump(key);
    await page.ready(ready);
    assert.equal(await page.tab.locator(".so-far").count(), 1, key);
  }
  await page.jump("m");
  await page.ready("[data-ready=matrix]");
  const matrix = await asked("matrix?bins=4");
  assert.equal(matrix.rows, 3);
  // A pause keeps what is shown.
  await page.tab.click(".so-far button");
  const turn = await page.tab.getAttribute(".so-far", "data-turn");
  assert.match(await page.text(".so-far"), /paused$/);
  rmSync(file);
  await job.ended;
  assert.equal(await page.tab.getAttribute(".so-far", "data-turn"), turn);
  await page.settled(() => !document.querySelector(".so-far") && document.querySelector("[data-ready=matrix]"));
  const all = (await asked("matrix")).total;
  assert.ok(all.messages > matrix.total.messages);
  assert.equal(await page.text("main > .note"), `in all ${bytes(all.bytes)} in ${plural(all.messages, "message")}`);
}

async function deadlock(page) {
  page.expected.push(...changing);
  await page.open("#/", "[data-table=runs]");
  const job = launch(page, 2, "recv");
  try {
    await follow(page, 2, "stuck recv");
    await page.ready("[data-figure=deadlock]");
    assert.match(await page.text("[data-figure=deadlock]"), /^DEADLOCK ranks 0-1 wait for each other: 0 → 1 → 0$/);
    await page.shot("deadlock");
    await page.jump("w");
    // The view before it has such a table, too.
    await page.settled(() => document.querySelector("main h2")?.textContent === "Where the ranks are" && document.querySelector("[data-table=where]"));
    const where = await page.table("where");
    assert.equal(where.length > 0 && where.every((r) => r.doing.startsWith("MPI_Recv(")), true, JSON.stringify(where));
  } finally {
    job.kill();
  }
  await job.ended;
  await page.jump("r");
  await allStored(page);
  await page.tab.click("[data-table=runs] .state.bad");
  await page.ready("[data-ready=summary]");
  await page.tab.click("nav.tabs a[data-tab=where]");
  await page.ready("[data-figure=deadlock]");
}

// All that updates itself can be paused, and stays so in other views. What is shown then has no faults.
async function paused(page) {
  page.expected.push(...changing);
  const file = join(page.config.runs, "still");
  writeFileSync(file, "");
  const job = launch(page, 3, "hold", file);
  try {
    for (const options of [{}, { colorScheme: "dark", viewport: { width: 400, height: 800 } }]) {
      const other = await page.browser.page(options);
      other.expected.push(...changing);
      await other.open("#/", "[data-table=runs]");
      await follow(other, 3, "still");
      await other.ready("[data-ready=now] [data-table=where]");
      await other.ready("[data-table=procedures]");
      await other.tab.click("[data-ready=live] button[aria-pressed]");
      await other.settled(() => document.querySelector("[data-ready=live] .note").textContent.includes("paused"));
      const shown = () => other.tab.$eval("[data-ready=live]", (e) => e.innerText);
      const before = await shown();
      const turn = await other.tab.getAttribute(".so-far", "data-turn");
      assert.deepEqual(await findings(other), []);
      assert.equal(await shown(), before);
      assert.equal(await other.tab.getAttribute(".so-far", "data-turn"), turn);
      await other.shot(`live-paused-${options.colorScheme ?? "light"}`);
      await other.jump("g");
      await other.ready("[data-ready=graph]");
      assert.match(await other.text(".so-far"), /paused$/);
      assert.deepEqual(await findings(other), []);
      await other.jump("s");
      await other.ready("[data-ready=live]");
      await other.tab.click("[data-ready=live] button[aria-pressed]");
      await other.settled((was) => document.querySelector("[data-ready=live]").innerText !== was, before);
      other.clean();
      await other.close();
    }
  } finally {
    rmSync(file);
  }
  await job.ended;
}

export const liveChecks = { "live: followed to its end": follows, "live: so far": soFar, "live: deadlock": deadlock, "live: paused": paused };
