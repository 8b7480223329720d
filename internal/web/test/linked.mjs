// One selection holds over all views, and leads from a sentence to the line of the source.

import assert from "node:assert/strict";
import { rankText } from "../src/format.js";

const bar = (page) => page.tab.$$eval(".selection [data-part]", (list) => Object.fromEntries(list.map((e) => [e.dataset.part, e.textContent.replace(/^\S+ /, "").replace(/ ✕$/, "")])));
const linkedRows = (page, name) => page.tab.$$eval(`[data-table="${name}"] tr.linked`, (list) => list.map((r) => [...r.cells].map((c) => c.textContent)));

// From the first sentence to the source line of the culprit with the keyboard alone, in five steps.
async function walk(page) {
  const { findings } = page.document("report", "delays");
  const at = findings.findIndex((f) => f.kind === "cause");
  const site = findings[at].where.at.site;
  await page.open("#/runs/delays", "[data-ready=findings]");
  await page.tab.keyboard.press(String(at + 1)); // the sentence about the culprit
  await page.ready("[data-ready=waits]");
  assert.deepEqual(await bar(page), { op: findings[at].where.at.op, site, ranks: rankText(findings[at].ranks) });
  await page.jump("o"); // g o
  await page.ready("[data-ready=source] tr.here");
  const line = site.match(/:(\d+)$/)[1];
  assert.equal(await page.text(".source tr.here th"), line);
  assert.match(await page.text(".source tr.here .code"), new RegExp(findings[at].where.at.op));
  const causes = page.document("waits", "delays").causes.filter((c) => c.at?.site === site);
  assert.ok(causes.length > 0);
  assert.match(await page.text(".source tr.here td:nth-child(4)"), /[mµ]s$/);
  await page.shot("source");
}

async function selection(page) {
  await page.open("#/runs/delays", "[data-ready=summary]");
  const { callsites } = page.document("report", "delays");
  const nth = callsites.findIndex((c) => c.site === "together delays.c:47"); // every rank calls it, in a loop
  await page.tab.click(`[data-table=callsites] tbody tr:nth-child(${nth + 1})`);
  await page.ready(".selection");
  const chosen = { op: callsites[nth].op, site: callsites[nth].site };
  assert.deepEqual(await bar(page), chosen);
  assert.equal((await linkedRows(page, "callsites")).length, 1);
  assert.equal((await linkedRows(page, "procedures")).length, 1);
  for (const tab of ["waits", "imbalance", "timeline", "graph", "matrix", "summary"]) {
    await page.tab.click(`nav.tabs a[data-tab=${tab}]`);
    await page.ready(`nav.tabs a[data-tab=${tab}][aria-current=page]`);
    assert.deepEqual(await bar(page), chosen, tab);
  }
  await page.tab.click("nav.tabs a[data-tab=graph]");
  await page.ready("[data-ready=graph] g.node.linked");
  const linked = await page.tab.$$eval("g.node.linked title", (l) => l.map((e) => e.textContent));
  assert.ok(linked.every((n) => n.startsWith("loop")), String(linked)); // the loop with the call
  await page.shot("selection-graph");

  // Only rows about it, and letting go of parts.
  await page.open("#/runs/delays/waits?s.ranks=1&s.site=together+delays.c%3A47", "[data-ready=waits]");
  const all = (await page.table("wait-rows")).length;
  await page.tab.click(".selection label");
  await page.settled((n) => document.querySelectorAll("[data-table=wait-rows] tbody tr").length < n, all);
  assert.ok((await page.table("wait-rows")).every((r) => `${r["wait in"]} ${r.in}`.includes("together delays.c:47")));
  await page.tab.click(".selection [data-part=site]");
  await page.settled(() => !location.hash.includes("s.site"));
  assert.deepEqual(await bar(page), { ranks: "1" });
  await page.tab.keyboard.press("x");
  await page.settled(() => !document.querySelector(".selection"));

  // The longest wait leads to where it is.
  await page.open("#/runs/delays/waits", "[data-ready=waits]");
  const w = page.document("waits", "delays").rows.toSorted((a, b) => b.time - a.time)[0];
  await page.tab.click("[data-table=wait-rows] tbody tr:nth-child(1) a");
  await page.ready("[data-ready=timeline]");
  const { from, to } = await page.tab.$eval("[data-ready=timeline]", (e) => ({ ...e.dataset }));
  assert.ok(Number(from) < w.longest.at && Number(to) > w.longest.at + w.longest.time);
  assert.ok((await page.hash()).includes(`s.time=${w.longest.at}-${w.longest.at + w.longest.time}`));
  await page.shot("selection-timeline");

  await page.open("#/runs/traced/matrix", "[data-ready=matrix]");
  const at = await page.tab.$eval("[data-ready=matrix]", (e) => ({ ...e.dataset }));
  await page.tab.click("[data-ready=matrix]", { position: { x: Number(at.left) + 2.5 * at.unit, y: Number(at.top) + 1.5 * at.unit } });
  await page.ready(".selection");
  assert.deepEqual(await bar(page), { ranks: "1-2" });
}

// What was typed beyond the run's end shows no more than the run.
async function beyond(page) {
  const whole = page.document("timeline", "traced");
  const half = Math.round((whole.begin + whole.end) / 2);
  await page.open(`#/runs/traced/timeline?plain=1&from=${half}&to=999999999999`, "[data-ready=timeline]");
  const part = await page.tab.$eval("[data-ready=timeline]", (e) => ({ ...e.dataset }));
  assert.deepEqual([part.from, part.to], [String(half), String(whole.end)]);
}

// Callsites are told apart by as much of their call paths as one chooses, in all views.
async function paths(page) {
  const sites = (depth, table) => [...new Set(page.document("report", "paths", "--by", "callsite", ...(depth === undefined ? [] : ["--site-depth", depth]))[table].map((r) => r.site))].sort();
  const shown = async () => [...new Set((await page.table("callsites")).map((r) => r.callsite))].sort();
  await page.open("#/runs/paths", "[data-ready=summary]");
  assert.deepEqual(await shown(), sites(undefined, "callsites"));
  for (const [text, value] of [["2 calls", "2"], ["whole paths", "0"]]) {
    await page.tab.click(`fieldset label:has-text('${text}')`);
    await page.settled((v) => location.hash.includes(`paths=${v}`) && document.querySelector("[data-table=callsites]")?.textContent.includes("←"), value);
    assert.deepEqual(await shown(), sites(value, "callsites"), text);
  }
  await page.shot("call-paths");
  await page.tab.click("nav.tabs a[data-tab=flame]");
  await page.ready("[data-ready=flame]");
  assert.match(await page.hash(), /paths=0/);
  await page.open("#/runs/jacobi", "[data-ready=summary]");
  assert.equal(await page.tab.locator("fieldset:has-text('callsites by')").count(), 0);
}

export const linkedChecks = { "call paths": paths, "from a sentence to the source": walk, selection, "a timeline beyond the end": beyond };
