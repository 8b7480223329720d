// Flame graphs: what is drawn is compared with the reports.

import assert from "node:assert/strict";
import { nanos, percent } from "../src/format.js";

const boxes = (page) => page.tab.$$eval(".flame [role=treeitem]", (list) => list.map((e) => ({
  text: e.getAttribute("aria-label"), level: Number(e.getAttribute("aria-level")), left: parseFloat(e.style.left), wide: parseFloat(e.style.width), colour: getComputedStyle(e).backgroundColor,
})));

async function flame(page) {
  await page.open("#/runs/delays/flame", "[data-ready=flame]");
  const report = page.document("report", "delays");
  const total = report.total.time.sum;
  const calls = report.callsites.filter((r) => !r.apart && r.time.sum > 0).toSorted((a, b) => b.time.sum - a.time.sum);
  assert.deepEqual((await page.table("places")).map((r) => [r.cost, r.call, r.callsite]).slice(0, 8), calls.slice(0, 8).map((r) => [nanos(r.time.sum), r.op, r.site]));
  const drawn = await boxes(page);
  assert.equal(drawn[0].text, `all: ${nanos(total)}, 100.0%`);
  for (const r of calls.slice(0, 6)) {
    const box = drawn.find((b) => b.text === `${r.op}, ${r.site}: ${nanos(r.time.sum)}, ${percent(r.time.sum, total)}`);
    assert.ok(box, `${r.op} ${r.site}`);
    assert.ok(Math.abs(box.wide - (100 * r.time.sum) / total) < 0.01);
    assert.ok(drawn.some((b) => b.level === box.level - 1 && b.left <= box.left + 1e-6 && b.left + b.wide >= box.left + box.wide - 1e-6), "it lies in what leads to it");
  }
  await page.shot("flame");

  // Keys: down to the costliest call; Enter zooms, and selects it.
  await page.tab.focus(".flame");
  const at = () => page.tab.$eval(".flame .at", (e) => e.getAttribute("aria-label"));
  for (let now = await at(), was = ""; now !== was;) {
    was = now;
    await page.tab.keyboard.press("ArrowDown");
    now = await page.tab.waitForFunction((w) => {
      const e = document.querySelector(".flame .at");
      return e.getAttribute("aria-label") !== w || e.getAttribute("aria-label").startsWith("MPI_") ? e.getAttribute("aria-label") : false;
    }, was).then((h) => h.jsonValue());
  }
  const leaf = await at();
  assert.match(leaf, /^MPI_/);
  await page.tab.keyboard.press("Enter");
  await page.settled(() => document.querySelector(".flame .at").style.width === "100%");
  assert.ok((await page.hash()).includes("s.site="));
  await page.tab.keyboard.press("Escape");
  await page.settled(() => document.querySelectorAll(".flame [role=treeitem]").length > 10);

  // The delays are as efg waits says.
  await page.open("#/runs/delays/flame?of=delay", "[data-ready=flame]");
  const { causes } = page.document("waits", "delays");
  const site = causes[0].at.site;
  const sum = causes.filter((c) => c.at?.site === site && c.at.op === causes[0].at.op && c.kind === causes[0].kind).reduce((s, c) => s + c.time, 0);
  assert.ok((await page.table("places")).some((r) => r.callsite === site && r.cost === nanos(sum)));

  // Two runs: red is more, blue is less.
  await page.open("#/runs/traced/flame?of=calls&with=jacobi", "[data-ready=flame]");
  const [red, , blue] = (await boxes(page))[0].colour.match(/\d+/g).map(Number);
  assert.ok(red > blue + 40, "jacobi has twice the iterations");
  await page.open("#/runs/jacobi/flame?of=calls&with=traced", "[data-ready=flame]");
  const [less, , more] = (await boxes(page))[0].colour.match(/\d+/g).map(Number);
  assert.ok(more > less + 40);
  await page.shot("flame-diff");

  // Without times there are bytes and calls.
  await page.open("#/runs/farm/flame", "[data-ready=flame]");
  assert.deepEqual(await page.tab.$$eval(".choice label", (l) => l.map((e) => e.textContent)), ["bytes", "calls"]);
}

export const flameChecks = { flame };
