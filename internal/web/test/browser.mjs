// A browser, pages of it, and efg as what they are compared with.

import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";

const flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"];

export class Browser {
  static async start(config) {
    const { chromium } = createRequire(join(config.modules, "x"))("playwright-core");
    const browser = await chromium.launch({ executablePath: config.chromium, args: flags });
    return Object.assign(new Browser(), { config, browser });
  }

  // page opens a page in a context of its own. It must write no errors and ask nobody
  // else for anything.
  async page(options = {}) {
    const context = await this.browser.newContext({ viewport: { width: 1280, height: 900 }, colorScheme: "light", locale: "en", timezoneId: "UTC", ...options });
    const tab = await context.newPage();
    const page = new Page(this, context, tab);
    await page.enter();
    return page;
  }

  close() {
    return this.browser.close();
  }
}

export class Page {
  constructor(browser, context, tab) {
    Object.assign(this, { browser, context, tab, config: browser.config, problems: [], expected: [] });
    const { origin } = new URL(this.config.address);
    tab.setDefaultTimeout(300_000); // of a machine that has other work, too
    tab.on("console", (m) => m.type() === "error" && this.problems.push(m.text()));
    tab.on("pageerror", (e) => this.problems.push(e.message));
    tab.on("dialog", (d) => {
      this.problems.push(`a dialog: ${d.message()}`);
      d.dismiss();
    });
    context.on("request", (r) => {
      const url = new URL(r.url());
      if (!["data:", "blob:", "file:"].includes(url.protocol) && url.origin !== origin) this.problems.push(`a request leaves: ${r.url()}`);
    });
  }

  // enter shows the token once, and has a cookie from then on.
  enter() {
    return this.tab.goto(this.config.address);
  }

  // open goes to a view, as a link from elsewhere does.
  async open(hash, ready) {
    await this.tab.goto("about:blank");
    await this.tab.goto(new URL(`/${hash}`, this.config.address).href);
    await this.ready(ready);
  }

  async ready(selector) {
    if (selector) await this.tab.waitForSelector(selector);
  }

  hash() {
    return this.tab.evaluate(() => location.hash);
  }

  shot(name, options = {}) {
    return this.tab.screenshot({ path: join(this.config.shots, `${name}.png`), ...options });
  }

  // clean throws if something was wrong that no check looked at.
  clean() {
    const rest = this.problems.filter((p) => !this.expected.some((e) => p.includes(e)));
    if (rest.length) throw new Error(`the page complains: ${rest.join("; ")}`);
  }

  close() {
    return this.context.close();
  }

  // file is the run file of a name.
  file(name) {
    return join(this.config.runs, `${name}.efg`);
  }

  // efg runs a command, and returns what it writes. check ends with 1 if it found
  // something.
  efg(...args) {
    try {
      return execFileSync(this.config.efg, args, { encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "inherit"] });
    } catch (e) {
      if (args[0] === "check" && e.status === 1) return e.stdout;
      throw e;
    }
  }

  // document is what a command says of a run as JSON.
  document(command, name, ...args) {
    return JSON.parse(this.efg(command, "--json", this.file(name), ...args));
  }

  // table reads a table: an array of rows, each an object by head, with the whole of texts that are
  // shortened.
  table(name) {
    return this.tab.evaluate((n) => {
      const box = document.querySelector(`[data-table="${n}"]`);
      const heads = [...box.querySelectorAll("th")].map((h) => h.dataset.head);
      return [...box.querySelectorAll("tbody tr:not(.space)")].map((r) => Object.fromEntries([...r.cells].map((c, i) => [heads[i], c.textContent.includes("…") && c.title ? c.title : c.textContent])));
    }, name);
  }

  // pixels are the colours at places of a canvas.
  pixels(selector, places) {
    return this.tab.evaluate(([s, list]) => {
      const canvas = document.querySelector(s);
      const all = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
      return list.map(([x, y]) => {
        const at = 4 * (Math.floor(y * devicePixelRatio) * canvas.width + Math.floor(x * devicePixelRatio));
        return [...all.subarray(at, at + 3)];
      });
    }, [selector, places]);
  }

  text(selector) {
    return this.tab.locator(selector).first().innerText();
  }

  // jump goes to a view by g and its key: the page wants them within a second and a half.
  async jump(key) {
    for (let took = Infinity; took > 1400;) {
      const began = performance.now();
      await this.tab.keyboard.press("g");
      await this.tab.keyboard.press(key);
      took = performance.now() - began;
    }
  }

  // says waits until the first element of a kind has a text.
  async says(selector, text) {
    await this.settled(([s, t]) => document.querySelector(s)?.innerText === t, [selector, text]).catch(async (e) => {
      throw new Error(`${selector} says ${await this.text(selector)}, not ${text}`, { cause: e });
    });
  }

  // settled waits until a condition holds in the page.
  settled(condition, arg) {
    return this.tab.waitForFunction(condition, arg);
  }
}

// parseTable reads the table under a title in what a command writes for people.
export function parseTable(text, title) {
  const lines = text.split("\n");
  let at = lines.findIndex((l) => l.startsWith(title)) + 1;
  while (!lines[at]) at++;
  const heads = lines[at].trim().split(/ {2,}/);
  const rows = [];
  for (let i = at + 1; lines[i]; i++) rows.push(Object.fromEntries(lines[i].trim().split(/ {2,}/).map((c, k) => [heads[k], c])));
  return rows;
}
