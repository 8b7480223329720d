// What the page says about why ranks wait.

import assert from "node:assert/strict";
import { fixed, grouped, nanos, percent } from "../src/format.js";

const place = (p) => (p ? `${p.op} ${p.site}` : "-");

const tree = (page, within = "") =>
  page.tab.$$eval(`${within} .tree tr`, (rows) => rows.map((r) => [r.cells[0].textContent, r.cells[1].textContent]));

function factors(run) {
  const names = { parallel: "parallel efficiency", load_balance: "load balance", communication: "communication efficiency", serialisation: "serialisation", transfer: "transfer" };
  return Object.entries(names).filter(([k]) => run[k] != null).map(([k, name]) => [name, `${fixed(100 * run[k], 1)}%`]);
}

async function sentences(page) {
  const { findings } = page.document("report", "delays");
  assert.ok(findings.length > 2);
  for (const [i, f] of findings.entries()) {
    await page.open("#/runs/delays", "[data-ready=findings]");
    const shown = await page.tab.$$eval(".findings li", (list) => list.map((e) => e.textContent));
    assert.deepEqual(shown, findings.map((g) => g.text));
    if (f.kind === "processors") { // the page has no more about it
      assert.equal(await page.tab.locator(`.findings li:nth-child(${i + 1}) a`).count(), 0);
      continue;
    }
    await page.tab.click(`.findings li:nth-child(${i + 1}) a`);
    const view = { efficiency: "efficiency", waiting: "waits", state: "waits", cause: "waits", path: "waits", balance: "what-if", network: "what-if" }[f.kind];
    await page.ready(`[data-ready=${view}]`);
    // The evidence is in what is shown, also of what the sentence's place filters.
    if (f.kind === "state") assert.equal((await page.table("wait-rows"))[0]["wait in"], place(f.where.at));
  }
  await page.open("#/runs/delays", "[data-ready=findings]");
  const waits = page.document("waits", "delays");
  await page.ready("[data-table=causes]");
  const causes = await page.table("causes");
  assert.deepEqual(causes.map((r) => r.waiting), waits.causes.slice(0, 5).map((c) => nanos(c.time)));
  await page.ready(".tree");
  assert.deepEqual(await tree(page), factors(page.document("efficiency", "delays").runs[0]));
  await page.shot("why");

  await page.open("#/runs/jacobi", "[data-ready=findings]");
  assert.match(await page.text(".findings"), /Why ranks wait is not known/);
  await page.open("#/runs/farm", "[data-ready=summary]");
  assert.equal(await page.tab.locator(".findings").count(), 0);
}

async function waits(page) {
  await page.open("#/runs/delays/waits", "[data-ready=waits]");
  const w = page.document("waits", "delays");
  assert.equal(await page.text("[data-figure=waiting]"), percent(w.waiting, w.time));
  const names = new Map(w.states.map((s) => [s.state, s.name]));
  assert.deepEqual(
    (await page.table("states")).map((s) => [s.state, s.time, s.waits]),
    w.states.map((s) => [s.name, nanos(s.time), grouped(s.waits)]),
  );
  const rows = w.rows.toSorted((a, b) => b.time - a.time);
  assert.deepEqual(
    (await page.table("wait-rows")).map((r) => [r.time, r.waits, r.longest, r.state, r["wait in"], r.in]),
    rows.map((r) => [nanos(r.time), grouped(r.waits), nanos(r.longest.time), names.get(r.state), place(r.at), place(r.for)]),
  );
  const cells = await page.tab.$$eval("[data-heat=where] tbody tr", (list) => list.map((r) => [...r.cells].slice(1).map((c) => c.getAttribute("aria-label"))));
  rows.slice(0, 20).forEach((r, i) => {
    const of = new Map(r.ranks);
    assert.deepEqual(cells[i], [0, 1, 2, 3].map((rank) => nanos(of.get(rank) ?? 0)));
  });
  const pairs = await page.tab.$$eval("[data-heat=pairs] tbody td", (list) => list.map((c) => c.title));
  for (const [a, b, t] of w.pairs.cells) assert.ok(pairs.includes(`rank ${a} waits, for rank ${b}: ${nanos(t)}`), `${a} ${b}`);
  assert.equal(w.pairs.cells.reduce((s, [, , t]) => s + t, 0), w.rows.filter((r) => r.for && r.state !== "init" && !/MPI_(Init|Finalize)/.test(r.at.op)).reduce((s, r) => s + r.time, 0));
  const byCost = (list) => list.toSorted((x, y) => y.time - x.time).map((r) => nanos(r.time));
  assert.deepEqual((await page.table("wait-loops")).map((r) => r.waiting), byCost(w.loops));
  assert.deepEqual((await page.table("wait-phases")).map((r) => r.waiting), byCost(w.phases));
  // Cells lead to what they are about, by keys, too.
  await page.tab.focus("[data-heat=pairs]");
  for (const key of ["ArrowRight", "ArrowRight", "Enter"]) await page.tab.keyboard.press(key);
  await page.settled(() => location.hash.includes("s.ranks=0%2C1"));
  assert.deepEqual((await page.table("path")).map((r) => r.time), w.path.rows.map((r) => nanos(r.time)));
  assert.match(await page.tab.getAttribute(".stack svg", "aria-label"), /^time of each rank: computation \d+ to \d+ %, in MPI otherwise .* waiting \d+ to \d+ %$/);

  await page.tab.fill("input[type=search]", "late sender");
  await page.settled(() => [...document.querySelectorAll("[data-table=wait-rows] tbody tr")].every((r) => r.textContent.includes("late sender")));
  assert.equal((await page.table("wait-rows")).length, rows.filter((r) => names.get(r.state).startsWith("late sender")).length);
  await page.shot("waits", { fullPage: true });

  await page.open("#/runs/jacobi/waits", ".note");
  assert.match(await page.text(".note"), /times of each call were not recorded/);
}

async function efficiency(page) {
  await page.open("#/runs/delays/efficiency", "[data-ready=efficiency]");
  const [run] = page.document("efficiency", "delays", "--windows", "60").runs;
  assert.deepEqual(await tree(page), factors(run));
  assert.equal(await page.tab.locator(".stack svg > g").count(), 60);
  const shares = run.windows.map((v) => fixed((100 * v.useful) / (v.time * run.ranks), 0));
  const label = await page.tab.getAttribute(".stack svg", "aria-label");
  assert.ok(label.includes(`computation ${Math.min(...shares)} to ${Math.max(...shares)} %`), label);
  await page.shot("efficiency");
  await page.open("#/runs/jacobi/efficiency", "[data-ready=efficiency]");
  assert.deepEqual(await tree(page), factors(page.document("efficiency", "jacobi").runs[0]));
  await page.open("#/runs/farm/efficiency", ".note");
  assert.match(await page.text(".note"), /No times were recorded/);
}

async function whatIf(page) {
  await page.open("#/runs/delays/what-if", "[data-ready=what-if]");
  const before = page.document("whatif", "delays");
  const rows = await page.table("gains");
  assert.deepEqual(rows.map((r) => r.time), [before.overview.ideal, before.overview.balanced, ...before.overview.gains.map((g) => g.then)].map((t) => nanos(t.time)));
  await page.tab.click("[data-table=gains] tbody tr:nth-child(1)");
  await page.ready("[data-ready=prediction]");
  assert.match(await page.hash(), /ideal=1/);
  const { asked } = page.document("whatif", "delays", "--ideal-network");
  assert.equal(await page.text("[data-figure=predicted]"), nanos(asked.time));
  assert.deepEqual(await tree(page, ".side-by-side > :last-child"), factors(asked));

  await page.open("#/runs/delays/what-if?compute=rank%202:0.5", "[data-ready=prediction]");
  assert.equal(await page.text("[data-figure=predicted]"), nanos(page.document("whatif", "delays", "--compute", "rank 2: 0.5").asked.time));
  await page.shot("what-if");
  await page.tab.click("text=as recorded");
  await page.settled(() => !document.querySelector("[data-ready=prediction]"));
  page.expected.push("400");
  await page.open("#/runs/delays/what-if?latency=fast", ".problem");
  assert.match(await page.text(".problem"), /^latency="fast" is no time/);
}

// The page as one file shows the same without a server.
async function oneFile(page) {
  const file = `${page.config.runs}/delays.html`;
  page.efg("report", page.file("delays"), "--html", file);
  const requests = [];
  await page.tab.goto("about:blank");
  page.tab.on("request", (r) => requests.push(r.url()));
  const open = async (hash, ready) => {
    await page.tab.goto("about:blank");
    await page.tab.goto(`file://${file}${hash}`);
    await page.ready(ready);
  };
  await open("", "[data-ready=findings]");
  const { findings } = page.document("report", "delays");
  assert.deepEqual(await page.tab.$$eval(".findings li", (list) => list.map((e) => e.textContent)), findings.map((f) => f.text));
  const tabs = await page.tab.$$eval("nav.tabs a", (list) => list.map((e) => e.dataset.tab));
  const ready = {
    summary: "[data-ready=summary]", waits: "[data-ready=waits]", flame: "[data-ready=flame]", efficiency: "[data-ready=efficiency]", "what-if": "[data-ready=what-if]", imbalance: ".plot .u-wrap",
    matrix: "[data-ready=matrix]", timeline: "canvas[data-flows]", loops: ".table", phases: "[data-table=phases]", check: "main h2",
  };
  assert.deepEqual(tabs, Object.keys(ready));
  for (const tab of tabs) {
    await page.tab.click(`nav.tabs a[data-tab=${tab}]`);
    await page.ready(ready[tab]);
    assert.equal(await page.tab.locator(".problem").count(), 0, tab);
  }
  await page.tab.click("nav.tabs a[data-tab=flame]");
  for (const of of ["waiting", "delay", "bytes", "calls"]) {
    await page.tab.click(`.choice label:has(input[value=${of}])`);
    await page.ready(`.choice label.on:has(input[value=${of}])`);
    await page.ready("[data-ready=flame]");
  }
  await page.tab.click("nav.tabs a[data-tab=timeline]");
  await page.ready("canvas[data-flows]");
  await page.tab.focus("canvas[data-flows]");
  await page.tab.keyboard.press("+");
  await page.settled(() => location.hash.includes("from="));
  await page.shot("one-file");
  await open("#/runs/delays/what-if?ideal=1", ".problem");
  assert.match(await page.text(".problem"), /efg view shows all of the run/);
  assert.ok(requests.every((url) => url === "about:blank" || url.startsWith("file://") || url.startsWith("blob:")), String(requests));
}

export const whyChecks = { "one file": oneFile, sentences, waits, efficiency, "what if": whatIf };
