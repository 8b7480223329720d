// Jobs that go on: they appear, are followed, and become runs, without anything being
// reloaded.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";

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
  const row = page.tab.locator("[data-table=runs] tbody tr", { hasText: `running, ${ranks} of ${ranks} processes` }).filter({ hasText: words });
  await row.waitFor();
  await row.click();
  await page.ready("[data-ready=live]");
}

const rows = (page) => page.table("live-ranks");

async function follows(page) {
  await page.open("#/", "main .note");
  assert.match(await page.text("main .note"), /Nothing has been recorded yet/);
  page.expected.push("404"); // asked about the job just when it has become a run
  const job = launch(page, 3, "slow", "5");
  await follow(page, 3, "stuck slow 5");
  await page.settled(() => document.querySelectorAll("[data-table=live-ranks] tbody tr").length === 3 && document.querySelector("[data-table=live-ranks]").textContent.includes("MPI_Barrier"));
  const first = await rows(page);
  assert.deepEqual(first.map((r) => r.rank), ["0", "1", "2"]);
  assert.deepEqual(first.map((r) => r.doing), ["MPI_Barrier", "MPI_Barrier", "computing, after MPI_Barrier"]);
  assert.deepEqual(first.map((r) => r.at.startsWith("stuck.c:")), [true, true, true]);
  // Frames come by themselves.
  await page.settled((was) => document.querySelector("[data-table=live-ranks] tbody td:nth-child(5)").textContent !== was, first[0].for);
  await page.shot("live");
  await job.ended;
  await page.ready("[data-ready=summary]");
  const procedures = await page.table("procedures");
  assert.equal(procedures.find((p) => p.procedure === "MPI_Sendrecv").calls, "15");
  await page.tab.keyboard.press("g");
  await page.tab.keyboard.press("r");
  await page.ready("[data-table=runs] .state.good");
  assert.deepEqual((await page.table("runs")).map((r) => [r.ranks, r.state]), [["3", "complete"]]);
}

async function deadlock(page) {
  await page.open("#/", "[data-table=runs]");
  const job = launch(page, 2, "recv");
  try {
    await follow(page, 2, "stuck recv");
    await page.ready("[data-figure=deadlock]");
    assert.match(await page.text("[data-figure=deadlock]"), /^DEADLOCK ranks 0-1 wait for each other: 0 → 1 → 0$/);
    await page.shot("deadlock");
    await page.tab.keyboard.press("g");
    await page.tab.keyboard.press("w");
    await page.ready("[data-table=where]");
    const where = await page.table("where");
    assert.equal(where.length > 0 && where.every((r) => r.doing.startsWith("MPI_Recv(")), true, JSON.stringify(where));
  } finally {
    job.kill();
  }
  await job.ended;
  await page.tab.keyboard.press("g");
  await page.tab.keyboard.press("r");
  await page.ready("[data-table=runs] .state.bad");
  await page.tab.click("[data-table=runs] .state.bad");
  await page.ready("[data-ready=summary]");
  await page.tab.click("nav.tabs a[data-tab=where]");
  await page.ready("[data-figure=deadlock]");
}

export const liveChecks = { "live: followed to its end": follows, "live: deadlock": deadlock };
