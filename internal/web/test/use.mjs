// How the page is used: keys, links, themes, sizes, and what must not happen.

import assert from "node:assert/strict";

async function keys(page) {
  await page.open("#/", "[data-table=runs]");
  const names = (await page.table("runs")).map((r) => r.run);
  await page.tab.keyboard.press("j");
  await page.tab.keyboard.press("j");
  await page.tab.keyboard.press("k");
  await page.tab.keyboard.press("ArrowDown");
  await page.ready("[data-table=runs] tr[aria-selected]");
  assert.equal(await page.text("[data-table=runs] tr[aria-selected] td"), names[1]);
  await page.tab.keyboard.press("Enter");
  await page.ready("nav.tabs");
  assert.equal(await page.hash(), `#/runs/${names[1]}`);
  for (const [key, tab] of [["m", "matrix"], ["d", "diff"], ["c", "check"], ["s", "summary"]]) {
    await page.jump(key);
    await page.ready(`nav.tabs a[data-tab=${tab}][aria-current=page]`);
  }
  await page.tab.keyboard.press("?");
  await page.ready("dialog[open]");
  await page.shot("keys");
  await page.tab.keyboard.press("Escape");
  await page.settled(() => !document.querySelector("dialog"));
  await page.jump("r");
  await page.ready("[data-table=runs]");
  // It is seen where one is.
  await page.tab.keyboard.press("Tab");
  assert.notEqual(await page.tab.evaluate(() => getComputedStyle(document.activeElement).outlineStyle), "none");
}

// Columns are chosen, and rows copied as CSV.
async function tables(page) {
  await page.open("#/runs/jacobi", "[data-ready=summary]");
  const before = await page.table("callsites");
  await page.tab.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.tab.click("[data-table=callsites] .tools button");
  await page.ready("dialog[open]");
  await page.tab.click("dialog label:has-text('per call')");
  await page.settled(() => location.hash.includes("hide-callsites=per+call"));
  await page.tab.click("dialog button:has-text('as CSV')");
  await page.settled(() => document.querySelector("dialog output").textContent.endsWith("copied"));
  const lines = (await page.tab.evaluate(() => navigator.clipboard.readText())).trimEnd().split("\r\n");
  assert.equal(lines.length, before.length + 1);
  assert.equal(lines[0], Object.keys(before[0]).filter((h) => h !== "per call" && h !== "undefined").join(","));
  assert.ok(lines[1].startsWith(`${before[0].callsite},${before[0].procedure},`));
  await page.tab.keyboard.press("Escape");
  await page.settled(() => !document.querySelector("dialog"));
  assert.ok(!("per call" in (await page.table("callsites"))[0]));
  // Names lose their middle; the whole is there when it is pointed at.
  await page.open("#/runs/delays/waits", "[data-ready=waits]");
  const shortened = await page.tab.$$eval("[data-table=wait-phases] td[title*=collectives]", (l) => l.map((e) => [e.textContent, e.title]));
  assert.ok(shortened.length > 0);
  for (const [text, whole] of shortened) assert.ok(text.includes("…") && whole.startsWith(text.split("…")[0]) && whole.endsWith(text.split("…")[1]), text);
}

async function links(page) {
  for (const [hash, ready, holds] of [
    ["#/runs/jacobi?sort-procedures=calls&q=free", "[data-ready=summary]", () => {
      const cells = [...document.querySelectorAll("[data-table=procedures] tbody td:first-child")].map((c) => c.textContent);
      return cells.length === 2 && cells.every((c) => c.endsWith("_free"));
    }],
    ["#/runs/farm/matrix?measure=messages&scale=linear", "[data-ready=matrix]", () => document.querySelectorAll("fieldset label.on").length === 3 && document.querySelector("input[value=messages]").checked],
    ["#/runs/nest/graph?rank=2&open=all&node=n5", "[data-ready=graph]", () => document.querySelector(".picture g.node.chosen title")?.textContent === "n5" && document.querySelector("aside.chosen h3").textContent.startsWith("n5")],
    ["#/runs/jacobi/diff?ranks=1%2C2", "[data-table=diff-callsites]", () => document.querySelector("[data-table=diff-callsites] th:nth-child(3)").textContent.startsWith("calls rank 1")],
  ]) {
    await page.open(hash, ready);
    await page.settled(holds);
    assert.equal(await page.hash(), hash);
    await page.tab.reload();
    await page.ready(ready);
    await page.settled(holds);
  }
  await page.tab.click("nav.tabs a[data-tab=loops]");
  await page.ready("[data-table=loops], main h2");
  await page.tab.goBack();
  await page.ready("[data-table=diff-callsites]");
  assert.equal(await page.hash(), "#/runs/jacobi/diff?ranks=1%2C2");
}

// What is not there is said, and does not break the page.
async function wrong(page) {
  page.expected.push("404", "400");
  await page.open("#/runs/no-such-run", "[role=alert]");
  assert.match(await page.text("[role=alert]"), /no-such-run|no such run/);
  await page.open("#/runs/jacobi/graph?rank=99", "[role=alert]");
  assert.match(await page.text("[role=alert]"), /no rank 99/);
  await page.open("#/runs/jacobi/no-such-view", ".problem");
  await page.open("#/runs/%E0%A4%A/summary?x=%", "[role=alert]");
  await page.jump("r");
  await page.ready("[data-table=runs]");
}

function luminance(rgb) {
  const linear = rgb.map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
}

// contrast is the least of texts with what is behind them.
async function contrast(page, selector) {
  const pairs = await page.tab.$$eval(selector, (list) => list.map((e) => {
    const numbers = (text) => text.match(/[\d.]+/g)?.map(Number) ?? [];
    let back = e;
    while (back && (numbers(getComputedStyle(back).backgroundColor)[3] ?? 1) === 0) back = back.parentElement;
    return [numbers(getComputedStyle(e).color).slice(0, 3), numbers(getComputedStyle(back ?? document.documentElement).backgroundColor).slice(0, 3)];
  }));
  return Math.min(...pairs.map(([a, b]) => {
    const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x);
    return (high + 0.05) / (low + 0.05);
  }));
}

async function themes(page) {
  const back = (p) => p.tab.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const texts = "td > span:not(.bar), th, dt, dd, .note, nav a, .command, .findings li, .findings a, .stack figcaption span";
  for (const run of ["delays", "jacobi"]) {
    await page.open(`#/runs/${run}`, "[data-ready=summary]");
    await page.ready(".tree");
    assert.equal(await back(page), "rgb(255, 255, 255)");
    assert.ok((await contrast(page, texts)) >= 4.5);
  }
  const night = await page.browser.page({ colorScheme: "dark" });
  for (const run of ["delays", "jacobi"]) {
    await night.open(`#/runs/${run}`, "[data-ready=summary]");
    await night.ready(".tree");
    assert.equal(await back(night), "rgb(20, 23, 27)");
    assert.ok((await contrast(night, texts)) >= 4.5);
  }
  await night.shot("dark-summary");
  await night.open("#/runs/farm/matrix", "[data-ready=matrix]");
  await night.shot("dark-matrix");
  await night.open("#/runs/nest/graph", "[data-ready=graph]");
  await night.shot("dark-graph");
  await night.open("#/runs/traced/timeline", "[data-ready=timeline]");
  await night.shot("dark-timeline");
  // The switch is kept.
  await night.tab.keyboard.press("Shift+D");
  await night.settled(() => document.documentElement.dataset.theme === "light");
  await night.tab.reload();
  assert.equal(await back(night), "rgb(255, 255, 255)");
  night.clean();
  await night.close();
}

// On a narrow window nothing sticks out of the page.
async function narrow(page) {
  await page.tab.setViewportSize({ width: 800, height: 700 });
  for (const [view, ready] of [["", "[data-table=runs]"], ["runs/jacobi", "[data-ready=summary]"], ["runs/delays/summary", ".tree"], ["runs/delays/waits", "[data-ready=waits]"], ["runs/delays/what-if?ideal=1", "[data-ready=prediction]"], ["runs/jacobi/imbalance", ".u-wrap"], ["runs/halo/matrix", "[data-ready=matrix]"],
    ["runs/nest/graph", "[data-ready=graph]"], ["runs/traced/timeline", "[data-ready=timeline]"], ["runs/jacobi/diff", "[data-table=diff-classes]"]]) {
    await page.open(`#/${view}`, ready);
    const wide = await page.tab.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= 800, `${view || "runs"}: ${wide} pixels wide`);
  }
  await page.open("#/runs/jacobi", "[data-ready=summary]");
  await page.shot("narrow-summary");
}

// Names that are markup are shown as they are.
async function hostile(page) {
  const info = page.document("info", "hostile");
  assert.ok(info.command.join(" ").includes("<script>"));
  await page.open("#/", "[data-table=runs]");
  const row = (await page.table("runs")).find((r) => r.run === "hostile");
  assert.ok(row.command.includes("<script>"), row.command);
  await page.open("#/runs/hostile", "[data-ready=summary]");
  assert.ok((await page.text(".command")).includes("<script>"));
  assert.match(await page.text(".command"), /\\u\{202e\}\\u\{9b\}\\u\{1b\}\\n/);
  const sites = page.document("report", "hostile").callsites.map((c) => c.site);
  assert.ok(sites.some((s) => s.includes("<img")));
  assert.deepEqual((await page.table("callsites")).map((r) => r.callsite).sort(), sites.sort());
  await page.open("#/runs/hostile/graph?open=all&args=1", "[data-ready=graph]");
  const drawn = await page.tab.$$eval(".picture g.node text", (list) => list.map((t) => t.textContent));
  assert.ok(drawn.some((t) => t.includes("<img")), drawn.join("\n"));
  await page.shot("hostile-graph");
  for (const view of ["imbalance", "loops", "phases", "check", "diff"]) {
    await page.open(`#/runs/hostile/${view}`, "main h2");
    await page.settled(() => document.querySelectorAll("main table, main .good").length > 0);
    assert.doesNotMatch(await page.text("main"), /[^\P{C}\n\t]/u);
  }
  assert.equal(await page.tab.evaluate(() => globalThis.hacked), undefined);
  assert.equal(await page.tab.locator("main img, main script").count(), 0);
}

// 131,072 ranks: few rows are in the document, the last one is reached, and no answer is
// large.
async function many(page) {
  const sizes = [];
  page.tab.on("response", async (r) => {
    if (r.url().includes("/v1/")) sizes.push([r.url(), (await r.body().catch(() => "")).length]);
  });
  await page.open("#/runs/huge/ranks", "[data-table=ranks] tbody td");
  const rows = await page.tab.locator("[data-table=ranks] tbody tr").count();
  assert.ok(rows < 200, `${rows} rows in the document`);
  assert.equal(await page.tab.getAttribute("[data-table=ranks] table", "aria-rowcount"), "131073");
  await page.tab.focus("[data-table=ranks]");
  await page.tab.keyboard.press("End");
  await page.settled(() => document.querySelector("tr[aria-selected] td")?.textContent === "131071");
  await page.shot("ranks-131072");
  await page.tab.keyboard.press("Home");
  await page.settled(() => document.querySelector("tr[aria-selected] td")?.textContent === "0");
  await page.tab.keyboard.press("/");
  await page.tab.keyboard.type("70000-70001,3");
  await page.settled(() => document.querySelectorAll("[data-table=ranks] tbody tr").length === 3);
  await page.open("#/runs/huge/imbalance", ".u-wrap");
  const points = await page.tab.evaluate(() => document.querySelector(".plot").plot.data[0].length);
  assert.ok(points > 500 && points <= 600, `${points} points`);
  await page.shot("imbalance-131072");
  await page.open("#/runs/huge/matrix", "[data-ready=matrix]");
  assert.match(await page.text(".note"), /a cell: 512 × 512 ranks/);
  await page.shot("matrix-131072");
  await page.open("#/runs/huge/matrix?from=70000-70031&to=69900-70100", "[data-ready=matrix]");
  await page.shot("matrix-131072-block");
  for (const view of ["", "/graph?rank=70000", "/loops", "/phases", "/diff"]) {
    await page.open(`#/runs/huge${view}`, "[data-table]");
  }
  assert.deepEqual(sizes.filter(([, size]) => size > 1e6), [], "answers of more than a megabyte");
  assert.ok(sizes.length > 10, `${sizes.length} answers`);
}

export const useChecks = { keys, "columns and CSV": tables, links, "what is not there": wrong, themes, "a narrow window": narrow, "hostile names": hostile, "131,072 ranks": many };
