// Accessibility: axe-core finds nothing in any view, light and dark, wide and narrow.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";

// views are all of them, each with a run that has what it shows, and something selected.
const views = [
  ["#/", "[data-table=runs]"],
  ["#/runs/delays?s.op=MPI_Barrier", "[data-ready=summary]"],
  ["#/runs/delays/waits?s.ranks=1", "[data-ready=waits]"],
  ["#/runs/delays/flame", "[data-ready=flame]"],
  ["#/runs/jacobi/flame?of=calls&with=traced", "[data-ready=flame]"],
  ["#/runs/delays/efficiency", "[data-ready=efficiency]"],
  ["#/runs/delays/what-if", "[data-ready=what-if]"],
  ["#/runs/jacobi/imbalance", "[data-table=spread]"],
  ["#/runs/jacobi/ranks", "[data-table=ranks] tbody td"],
  ["#/runs/farm/matrix", "[data-ready=matrix]"],
  ["#/runs/nest/graph?node=n5&open=all", "[data-ready=graph]"],
  ["#/runs/delays/timeline?s.time=300000000-400000000", "canvas[data-path]"],
  ["#/runs/steps/timeline?s.region=step%2Fsolve", "[data-ready=timeline-regions]"],
  ["#/runs/nest/loops", "[data-table=loops]"],
  ["#/runs/traced/phases", "[data-table=phases]"],
  ["#/runs/faults/check", "[data-table=findings]"],
  ["#/runs/jacobi/diff", "[data-table=diff-classes]"],
  ["#/runs/jacobi/diff?with=traced", "[data-table=diff-totals]"],
  ["#/runs/delays/source?s.site=together+delays.c%3A47", "[data-ready=source]"],
  ["#/runs/faults/where", ".table, .note"],
];

// findings are what axe-core finds in what a page shows.
export async function findings(page) {
  await page.tab.evaluate(readFileSync(join(page.config.modules, "axe-core", "axe.min.js"), "utf8")); // not as a script of the page: it may have none
  return page.tab.evaluate(async () => {
    const { violations } = await globalThis.axe.run(document, { resultTypes: ["violations"] });
    return violations.flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.target.join(" ")}: ${n.failureSummary.split("\n").slice(1).join(";").trim()}`));
  });
}

async function checkAll(page) {
  const found = [];
  for (const [hash, ready] of views) {
    await page.open(hash, ready);
    found.push(...(await findings(page)).map((f) => `${hash}: ${f}`));
  }
  assert.deepEqual(found.slice(0, 40), []);
}

const dark = async (page) => {
  const night = await page.browser.page({ colorScheme: "dark", viewport: { width: 400, height: 800 } });
  await checkAll(night);
  night.clean();
  await night.close();
};

export const accessChecks = { "axe: light": checkAll, "axe: dark and narrow": dark };
