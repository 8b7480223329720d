// Tests of the page in a browser: what it draws is compared with what the commands of
// efg say of the same runs.
//
//	node page.mjs CONFIG
//
// CONFIG is a file of JSON, written by page_test.go. Each check writes a line of JSON:
// name, and error if it failed.

import { readFileSync } from "node:fs";
import { Browser } from "./browser.mjs";
import { checks } from "./checks.mjs";
import { liveChecks } from "./live.mjs";

const config = JSON.parse(readFileSync(process.argv[2], "utf8"));
const browser = await Browser.start(config);
const only = config.only && new RegExp(config.only);
const todo = Object.entries(config.live ? liveChecks : checks).filter(([name]) => !only || only.test(name));
await Promise.all(Array.from({ length: config.live ? 1 : 2 }, work));
await browser.close();

// work goes through checks, until there are no more.
async function work() {
  for (let next = todo.shift(); next; next = todo.shift()) {
    const [name, check] = next;
    const error = await failureOf(name, check);
    console.log(JSON.stringify({ name, error }));
  }
}

async function failureOf(name, check) {
  const page = await browser.page();
  try {
    await check(page);
    page.clean();
  } catch (e) {
    await page.shot(`failed-${name.replace(/\W+/g, "-")}`).catch(() => {});
    return e.stack ?? String(e);
  } finally {
    await page.close();
  }
}
