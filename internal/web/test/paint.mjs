// How long it takes until a run is seen:
//
//	node internal/web/test/paint.mjs ADDRESS RUN [TIMES]
//
// ADDRESS is that of efg view or efg daemon, with the token. It opens RUN so many times in
// a fresh browser each, and prints, in ms since the address was entered: the first paint,
// and when the numbers of the summary are drawn. If the server was just started, it has
// to read the run for the first line.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { Browser } from "./browser.mjs";

const [address, run, times = "5"] = process.argv.slice(2);
if (!run) {
  console.error("usage: paint.mjs ADDRESS RUN [TIMES]");
  process.exit(2);
}
// The npm packages are where scripts/setup.sh puts them.
const lock = readFileSync(new URL("../package-lock.json", import.meta.url));
const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache");
const modules = join(cache, "efg", `web-${createHash("sha256").update(lock).digest("hex").slice(0, 12)}`, "node_modules");
const config = { address, modules, chromium: "/usr/bin/chromium", shots: "." };

console.log("first paint  numbers drawn");
for (let i = 0; i < Number(times); i++) {
  const browser = await Browser.start(config);
  const page = await browser.page();
  await page.open(`#/runs/${encodeURIComponent(run)}`, "[data-ready=summary]");
  await page.settled(() => performance.getEntriesByName("efg-numbers").length > 0);
  const at = await page.tab.evaluate(() => ["first-contentful-paint", "efg-numbers"].map((n) => performance.getEntriesByName(n)[0].startTime));
  console.log(at.map((ms) => ms.toFixed(0).padStart(11)).join("  "));
  await browser.close();
}
