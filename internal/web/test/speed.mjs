// How fast the page is on a run:
//
//	node internal/web/test/speed.mjs ADDRESS RUN [TIMES]
//
// ADDRESS is that of efg view or efg daemon, with the token. It prints for each view, opened so many
// times in a page of its own: ms until it was drawn, the first time (when the server may have to
// compute its answers) and the quickest, and the largest answer in KB as sent and as read. Then it
// drags the zoomed timeline to and fro, and prints how many frames a second were drawn.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { Browser } from "./browser.mjs";

// views are what is drawn last of each.
const views = {
  summary: "[data-ready=summary]", waits: "[data-ready=waits]", efficiency: "table.tree", imbalance: "table", ranks: "table", matrix: "[data-ready=matrix]",
  timeline: "canvas[data-from]", flame: "[data-ready=flame]", loops: "table", phases: "table",
};
const longest = 120_000; // ms that a view may take
const dragged = 6; // seconds

const [address, run, times = "3"] = process.argv.slice(2);
if (!run) {
  console.error("usage: speed.mjs ADDRESS RUN [TIMES]");
  process.exit(2);
}
// The npm packages are where scripts/setup.sh puts them.
const lock = readFileSync(new URL("../package-lock.json", import.meta.url));
const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache");
const modules = join(cache, "efg", `web-${createHash("sha256").update(lock).digest("hex").slice(0, 12)}`, "node_modules");
const browser = await Browser.start({ address, modules, chromium: "/usr/bin/chromium", shots: "." });
console.log("view             first  quickest    sent    read");
for (const [name, selector] of Object.entries(views)) console.log(line(name, await opened(name, selector)));
const d = await drag();
console.log(`dragging: ${d.frames.toFixed(1)} frames a second, ${d.median.toFixed(1)} ms from one to the next, ${d.slow.toFixed(1)} in the slowest twentieth, ${d.slowest.toFixed(1)} at most`);
await browser.close();

function line(name, { ms, sent, read, error }) {
  if (error) return `${name.padEnd(12)} ${error}`;
  return [name.padEnd(12), ...[ms[0], Math.min(...ms)].map((x) => x.toFixed(0).padStart(9)), ...[sent, read].map((n) => (n / 1e3).toFixed(0).padStart(7))].join(" ");
}

// opened opens a view, and counts the bytes of the server's answers.
async function opened(name, selector) {
  const ms = [];
  const answers = new Map();
  for (let i = 0; i < Number(times); i++) {
    const page = await browser.page();
    page.tab.setDefaultTimeout(longest);
    const cdp = await page.context.newCDPSession(page.tab);
    await cdp.send("Network.enable");
    const of = (e) => {
      const key = `${i} ${e.requestId}`;
      if (!answers.has(key)) answers.set(key, { sent: 0, read: 0 });
      return answers.get(key);
    };
    cdp.on("Network.responseReceived", (e) => (of(e).path = new URL(e.response.url).pathname));
    cdp.on("Network.dataReceived", (e) => (of(e).read += e.dataLength));
    cdp.on("Network.loadingFinished", (e) => (of(e).sent = e.encodedDataLength));
    const start = performance.now();
    try {
      await page.open(`#/runs/${encodeURIComponent(run)}/${name}`, selector);
    } catch (e) {
      return { error: e.message.split("\n")[0] };
    } finally {
      ms.push(performance.now() - start);
      await page.close();
    }
  }
  const api = [...answers.values()].filter((a) => a.path?.startsWith("/v1/"));
  return { ms, sent: Math.max(...api.map((a) => a.sent)), read: Math.max(...api.map((a) => a.read)) };
}

// drag drags a timeline, of which a sixteenth is shown, with the pointer, and measures the time between
// frames that show another part. It does not wait until the server has looked at all calls.
async function drag() {
  const page = await browser.page({ viewport: { width: 1400, height: 900 } });
  await page.open(`#/runs/${encodeURIComponent(run)}/timeline`, "canvas[data-from]");
  await page.tab.focus("canvas");
  for (let i = 0; i < 4; i++) await page.tab.keyboard.press("+");
  await page.tab.waitForTimeout(500);
  const gaps = await page.tab.evaluate(async (seconds) => {
    const canvas = document.querySelector("canvas");
    const { left, top, width } = canvas.getBoundingClientRect();
    canvas.setPointerCapture = () => {}; // for a pointer that does not exist
    const send = (type, x) => canvas.dispatchEvent(new PointerEvent(type, { bubbles: true, pointerId: 1, clientX: x, clientY: top + 200, buttons: 1 }));
    const list = [];
    let last, shown;
    send("pointerdown", left + width / 4);
    const start = performance.now();
    for (let now = start; now - start < seconds * 1000; ) {
      const part = ((now - start) / 2000) % 2; // there in two seconds, and back in two
      send("pointermove", left + (width / 2) * (0.5 + Math.min(part, 2 - part)));
      now = await new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(performance.now()))));
      if (canvas.dataset.from === shown) continue;
      shown = canvas.dataset.from;
      if (last) list.push(now - last);
      last = now;
    }
    send("pointerup", left);
    return list;
  }, dragged);
  await page.close();
  gaps.sort((a, b) => a - b);
  const at = (part) => gaps[Math.min(gaps.length - 1, Math.floor(part * gaps.length))];
  return { frames: gaps.length / dragged, median: at(0.5), slow: at(0.95), slowest: at(1) };
}
