// What the page shows of stored runs.

import assert from "node:assert/strict";
import { heat } from "../src/colours.js";
import { bytes, grouped, nanos, percent, plural } from "../src/format.js";
import { parseTable } from "./browser.mjs";
import { graphChecks } from "./graph.mjs";
import { accessChecks } from "./access.mjs";
import { flameChecks } from "./flame.mjs";
import { linkedChecks } from "./linked.mjs";
import { referenceChecks } from "./reference.mjs";
import { timelineChecks } from "./timeline.mjs";
import { useChecks } from "./use.mjs";
import { fleetChecks } from "./fleet.mjs";
import { namedChecks } from "./named.mjs";
import { whyChecks } from "./why.mjs";

// sameCells compares the cells of heads that both tables have, row by row.
function sameCells(got, want, heads) {
  assert.equal(got.length, want.length, "rows");
  want.forEach((row, i) => {
    for (const head of heads) assert.equal(got[i][head].trim(), row[head], `row ${i}, ${head}`);
  });
}

async function runs(page) {
  await page.open("#/", "[data-table=runs]");
  const rows = await page.table("runs");
  const listed = await page.tab.evaluate(async () => (await fetch("v1/runs")).json());
  assert.deepEqual(rows.map((r) => r.run).sort(), listed.runs.map((r) => r.name).sort());
  const jacobi = page.document("info", "jacobi");
  const row = rows.find((r) => r.run === "jacobi");
  assert.deepEqual([row.ranks, row.events, row.size, row.state], [String(jacobi.processes), grouped(jacobi.events), bytes(jacobi.bytes), "complete"]);
  await page.shot("runs");

  await page.tab.keyboard.press("/");
  await page.tab.keyboard.type("jacobi traced");
  await page.settled(() => document.querySelectorAll("[data-table=runs] tbody tr").length === 1);
  assert.equal(await page.hash(), "#/?q=jacobi+traced");
  await page.tab.keyboard.press("Escape");
  await page.open("#/", "[data-table=runs]");
  await page.tab.click("[data-table=runs] th >> text=events");
  const events = (await page.table("runs")).map((r) => Number(r.events.replaceAll(",", "")));
  assert.deepEqual(events, events.toSorted((a, b) => b - a), "sorted, most first");
  const run = (name) => listed.runs.find((r) => r.name === name);
  const took = (name) => Date.parse(run(name).ended) - Date.parse(run(name).started);
  const like = listed.runs.filter((r) => String(r.command) === String(run("again").command) && r.ranks === run("again").ranks);
  const trend = 'a[href^="#/runs/again/diff?with="]';
  assert.equal(await page.tab.$$eval(`${trend} rect`, (list) => list.length), like.length, "a column for each run of the command");
  const before = (await page.tab.getAttribute(trend, "href")).split("with=")[1];
  assert.ok(like.some((r) => r.name === before), before);
  assert.equal((await page.tab.textContent(trend)).trim(), `${took("again") < took(before) ? "−" : "+"}${Math.abs(100 * (took("again") / took(before) - 1)).toFixed(0)}%`);

  await page.tab.check('[aria-label="compare traced"]');
  await page.tab.check('[aria-label="compare jacobi"]');
  await page.settled(() => document.querySelector("[data-figure=picked]")?.textContent.startsWith("traced compared with jacobi"));
  await page.tab.click("[data-figure=picked] >> text=differences");
  await page.settled(() => location.hash.startsWith("#/runs/traced/diff?with=jacobi"));
}

const histogram = (page, label = "calls by duration") => page.tab.$$eval(`.histogram[aria-label="${label}"] [data-calls]`, (list) => list.map((e) => Number(e.dataset.calls)));
const columnsOf = ({ bins }) => bins.slice(bins.findIndex((n) => n > 0));

async function summary(page) {
  await page.open("#/runs/jacobi", "[data-ready=summary]");
  const text = page.efg("report", "--top", "0", page.file("jacobi"));
  const heads = ["calls", "time", "%MPI", "mean", "min", "max", "sent", "received", "per call"];
  sameCells(await page.table("procedures"), parseTable(text, "Procedures"), ["procedure", ...heads]);
  sameCells(await page.table("callsites"), parseTable(text, "Callsites"), ["callsite", "procedure", "ranks", ...heads]);
  const report = page.document("report", "jacobi");
  assert.equal(await page.text("[data-figure=share]"), `${((100 * report.total.time.sum) / report.app).toFixed(1)}%`);
  assert.deepEqual(await histogram(page), columnsOf(report.total.time));
  assert.match(await page.text(".facts"), /times\s+sums, extremes and a histogram for each kind of call/);
  await page.shot("summary", { fullPage: true });
  await page.open("#/runs/traced", "[data-ready=summary]");
  assert.match(await page.text(".facts"), /times\s+of each call, at most 5% off/);
  await page.open("#/runs/jacobi", "[data-ready=summary]");

  await page.tab.selectOption("select", "MPI_Waitall");
  await page.settled(() => location.hash.includes("op=MPI_Waitall"));
  assert.deepEqual(await histogram(page), columnsOf(report.procedures.find((p) => p.op === "MPI_Waitall").time));
  const moving = report.procedures.find((p) => p.sizes);
  await page.tab.selectOption(`select:has(option:text-is("${moving.op}")) >> nth=-1`, moving.op);
  await page.settled((op) => location.hash.includes(`op=${op}`), moving.op);
  assert.deepEqual(await histogram(page, "messages and calls by size"), moving.sizes.slice(moving.sizes.findIndex((n) => n > 0)));
}

async function imbalance(page) {
  await page.open("#/runs/jacobi/imbalance", ".plot .u-wrap");
  await page.ready("[data-table=imbalance]");
  const want = parseTable(page.efg("report", "--top", "0", page.file("jacobi")), "Imbalance");
  const got = (await page.table("imbalance")).slice(0, want.length);
  sameCells(got, want, ["callsite", "procedure", "ranks", "mean/rank", "max/rank", "of rank", "imbalance", "cost"]);

  const report = page.document("report", "jacobi");
  const [least, most] = [Math.min, Math.max].map((f) => f(...report.ranks.map((r) => r.time.sum)));
  const spread = (await page.table("spread")).find((r) => r["of a rank"] === "time in MPI");
  assert.deepEqual([spread.least, spread.most, spread.mean], [nanos(least), nanos(most), nanos(Math.round(report.total.time.sum / 4))]);
  const drawn = await page.tab.evaluate(() => document.querySelector(".plot").plot.data.map((d) => [...d]));
  assert.deepEqual(drawn, [report.ranks.map((r) => r.rank), report.ranks.map((r) => r.time.sum), report.ranks.map((r) => r.app)]);
  const bars = await page.tab.$$eval(".spread .reach", (list) => list.map((e) => [e.dataset.site, parseFloat(e.style.left), parseFloat(e.style.width)]));
  const rows = report.callsites.filter((r) => !/MPI_(Init|Finalize)$/.test(r.op));
  assert.equal(bars.length, rows.length);
  for (const [site, left, width] of bars) {
    const row = rows.find((r) => r.site === site);
    const least = (100 * row.least) / row.most;
    assert.ok(Math.abs(left - least) < 1e-3 && Math.abs(width - (100 - least)) < 1e-3, `${site}: ${left}, ${width}, want ${least}`);
  }
  await page.shot("imbalance", { fullPage: true });
}

// cells adds a matrix up from its entries, as the picture has it.
function cells(document, width, size) {
  const make = () => Array.from({ length: size }, () => new Array(size).fill(0));
  const m = { bytes: make(), messages: make() };
  for (const [from, to, b, n] of document.entries) {
    m.bytes[Math.floor(from / width)][Math.floor(to / width)] += b;
    m.messages[Math.floor(from / width)][Math.floor(to / width)] += n;
  }
  return m;
}

// levels tells where a number lies among those of a matrix, 0 to 1.
function levels(list, scale) {
  const some = list.flat().filter((v) => v > 0);
  const least = some.reduce((a, b) => Math.min(a, b)), most = some.reduce((a, b) => Math.max(a, b));
  if (least === most) return () => 1;
  if (scale === "linear") return (n) => n / most;
  return (n) => (Math.log(n) - Math.log(least)) / (Math.log(most) - Math.log(least));
}

// samePixels compares pixels of the picture with a matrix.
async function samePixels(page, list, scale, places) {
  const at = await page.tab.$eval("[data-ready=matrix]", (e) => ({ ...e.dataset }));
  const [unit, left, top] = [at.unit, at.left, at.top].map(Number);
  const got = await page.pixels("[data-ready=matrix]", places.map(([i, j]) => [left + (j + 0.5) * unit, top + (i + 0.5) * unit]));
  const level = levels(list, scale);
  places.forEach(([i, j], k) => {
    const n = list[i][j];
    assert.deepEqual(got[k], n ? heat(level(n), false) : [240, 240, 240], `cell ${i},${j}: ${n}`);
  });
  return { unit, left, top };
}

const square = (n) => Array.from({ length: n * n }, (_, k) => [Math.floor(k / n), k % n]);

async function matrix(page) {
  await page.open("#/runs/farm/matrix", "[data-ready=matrix]");
  const document = page.document("matrix", "farm");
  const m = cells(document, 1, document.ranks);
  const at = await samePixels(page, m.bytes, "log", square(document.ranks));
  const canvas = await page.tab.locator("[data-ready=matrix]").boundingBox();
  const [from, to, b, n] = document.entries[1];
  await page.tab.mouse.move(canvas.x + at.left + (to + 0.5) * at.unit, canvas.y + at.top + (from + 0.5) * at.unit);
  await page.says("output.hover", `rank ${from} to rank ${to}: ${bytes(b)} in ${plural(n, "message")}`);
  await page.shot("matrix");

  await page.tab.click("label:has-text('messages')");
  await page.tab.click("label:has-text('linear')");
  await page.settled(() => location.hash.includes("measure=messages") && location.hash.includes("scale=linear"));
  await page.tab.mouse.move(0, 0);
  await page.settled(() => document.querySelector("output.hover").textContent.startsWith("rows send"));
  await samePixels(page, m.messages, "linear", square(document.ranks));
  await page.tab.goBack();
  await page.tab.goBack();
  assert.equal(await page.hash(), "#/runs/farm/matrix");

  await page.open("#/runs/jacobi/matrix?collectives=1", "[data-ready=matrix]");
  const more = page.document("matrix", "jacobi", "--collectives");
  assert.ok((await page.text(".note")).startsWith(`in all ${bytes(more.total.bytes)} in ${plural(more.total.messages, "message")}`));
}

async function matrixOfMany(page) {
  await page.open("#/runs/halo/matrix", "[data-ready=matrix]");
  const document = page.document("matrix", "halo");
  const width = Number((await page.text(".note")).match(/a cell: (\d+) ×/)[1]);
  const m = cells(document, width, Math.ceil(document.ranks / width));
  const places = square(m.bytes.length).filter(([i, j]) => (i * 31 + j * 17) % 101 === 0 || m.bytes[i][j] > 0);
  assert.ok(places.length > 1000);
  await samePixels(page, m.bytes, "log", places);
  await page.shot("matrix-1024");
}

// The ranks of a matrix are shown in the order of the program's grid, and named as what they are.
async function ordered(page) {
  await page.open("#/runs/halo/matrix", "[data-ready=matrix]");
  await page.tab.click("label:has-text('topology')");
  await page.settled(() => location.hash.includes("order=topology") && document.querySelector("[data-ready=matrix]"));
  const m = page.document("matrix", "halo", "--bins", "256", "--order", "topology");
  const at = await samePixels(page, m.bytes, "log", square(m.rows).filter(([i, j]) => m.bytes[i][j] > 0));
  const ranks = m.senders.flatMap(([first, count, stride]) => Array.from({ length: count }, (_, i) => first + i * stride));
  assert.deepEqual(ranks.toSorted((x, y) => x - y), Array.from({ length: m.ranks }, (_, i) => i));
  assert.notDeepEqual(ranks, ranks.toSorted((x, y) => x - y));
  const i = 3, j = m.bytes[i].findIndex((n) => n > 0);
  const canvas = await page.tab.locator("[data-ready=matrix]").boundingBox();
  const place = [canvas.x + at.left + (j + 0.5) * at.unit, canvas.y + at.top + (i + 0.5) * at.unit];
  await page.tab.mouse.move(...place);
  const of = (k) => ranks.slice(k * m.width, (k + 1) * m.width).toSorted((x, y) => x - y);
  const text = await page.text("output.hover");
  for (const r of [of(i)[0], of(j)[0]]) assert.ok(new RegExp(`\\b${r}\\b`).test(text), `${text} names no ${r}`);
  await page.tab.mouse.click(...place);
  await page.settled(() => location.hash.includes("s.ranks="));
  const chosen = new URLSearchParams((await page.hash()).split("?")[1]).get("s.ranks").split(",").flatMap((t) => {
    const [a, b = a] = t.split("-").map(Number);
    return Array.from({ length: b - a + 1 }, (_, k) => a + k);
  });
  assert.deepEqual(chosen, [...new Set([...of(i), ...of(j)])].toSorted((x, y) => x - y));
}

// sameBlock compares the picture with what efg matrix says of the block in the address.
async function sameBlock(page, run, from, to) {
  const m = page.document("matrix", run, "--bins", "256", "--from", from, "--to", to);
  assert.equal(await page.text(".note"), `ranks ${from} to ranks ${to}: ${bytes(m.total.bytes)} in ${plural(m.total.messages, "message")}${m.width > 1 ? `; a cell: ${m.width} × ${m.width} ranks` : ""}`);
  const places = m.bytes.flatMap((row, i) => row.map((n, j) => [i, j, n])).filter(([i, j, n]) => n > 0 || (i * 31 + j * 17) % 101 === 0);
  return samePixels(page, m.bytes, "log", places);
}

// blockShown waits until a block is in the address and drawn: what is drawn may be that of
// before still.
const blockShown = (page, from, to) => page.settled(([f, t]) => {
  const q = new URLSearchParams(location.hash.split("?")[1]);
  const drawn = [...document.querySelectorAll("main .note")].some((e) => e.textContent.startsWith(`ranks ${f} to ranks ${t}: `));
  return q.get("from") === f && q.get("to") === t && drawn && document.querySelector("[data-ready=matrix]");
}, [from, to]);

// Blocks of a matrix are zoomed to by mouse, keys and link.
async function zoom(page) {
  await page.open("#/runs/halo/matrix", "[data-ready=matrix]");
  const at = await page.tab.$eval("[data-ready=matrix]", (e) => ({ ...e.dataset }));
  const [unit, left, top] = [at.unit, at.left, at.top].map(Number);
  const canvas = await page.tab.locator("[data-ready=matrix]").boundingBox();
  const over = (i, j) => page.tab.mouse.move(canvas.x + left + (j + 0.5) * unit, canvas.y + top + (i + 0.5) * unit);
  await over(16, 32); // cells of 4 × 4 ranks
  await page.tab.mouse.down();
  await over(79, 63);
  await page.says("output.hover", "zoom to ranks 64-319 to ranks 128-255");
  await page.tab.mouse.up();
  await blockShown(page, "64-319", "128-255");
  await sameBlock(page, "halo", "64-319", "128-255");
  await page.shot("matrix-block");

  await page.tab.focus("[data-ready=matrix]");
  await page.tab.keyboard.press("+");
  await blockShown(page, "128-255", "160-223");
  await sameBlock(page, "halo", "128-255", "160-223");
  await page.tab.keyboard.press("Shift+ArrowDown");
  await blockShown(page, "192-319", "160-223");
  await page.tab.keyboard.press("-");
  await blockShown(page, "128-383", "128-255");
  await page.tab.goBack(); // steps of zooming are one
  await page.settled(() => !location.hash.includes("from=") && document.querySelector("[data-ready=matrix]"));

  await page.open("#/runs/halo/matrix?from=1000-1023&to=512-1023", "[data-ready=matrix]");
  await sameBlock(page, "halo", "1000-1023", "512-1023");
  await page.tab.fill("input >> nth=-2", "16-31");
  await page.tab.keyboard.press("Enter");
  await blockShown(page, "16-31", "512-1023");
  assert.match(await page.tab.innerText("main"), /No messages in this block/);
  await page.tab.focus("[data-ready=matrix]");
  await page.tab.keyboard.press("0");
  await page.settled(() => !location.hash.includes("from=") && document.querySelector("[data-ready=matrix]"));
  page.expected.push("400");
  await page.open("#/runs/halo/matrix?from=1000-1024", "[role=alert]");
  assert.match(await page.text("[role=alert]"), /want ranks below 1024/);
}

// tables are compared with those of the commands.
async function tables(page) {
  await page.open("#/runs/nest/loops", "[data-table=loops]");
  const loops = parseTable(page.efg("loops", page.file("nest")), "Loops of");
  sameCells(await page.table("loops"), loops, ["loop", "begins at", "with", "entered", "iterations", "per entry", "calls/it.", "sent/it.", "received/it.", "MPI/it.", "between/it.", "%app"]);
  await page.shot("loops");

  await page.open("#/runs/traced/phases", "[data-table=phases]");
  const costs = page.document("phases", "traced").rows.map((r) => r.time.app / r.ranks).toSorted((a, b) => b - a);
  assert.deepEqual((await page.table("phases")).map((r) => r["time/rank"].replace("~", "")), costs.map((v) => nanos(v)), "the costliest first");
  await page.open("#/runs/traced/phases?sort-phases=row", "[data-table=phases]");
  const phases = page.efg("phases", page.file("traced"));
  sameCells(await page.table("phases"), parseTable(phases, "time  "), ["row", "phases", "from", "until", "calls", "sent", "time/rank", "MPI", "per phase", "sent/s"]);
  sameCells(await page.table("late"), parseTable(phases, "Imbalance:"), ["row", "mean", "slowest", "of rank", "imbalance", "in last call", "first to last", "longest", "in phase", "last rank"]);
  await page.shot("phases");

  await page.open("#/runs/faults/check", "[data-table=findings]");
  const check = page.document("check", "faults");
  assert.equal(await page.text("[data-figure=faults]"), `${plural(check.faults, "fault")} found`);
  const found = await page.table("findings");
  assert.deepEqual(found.map((f) => [f.finding, f.what, f.times]), check.findings.map((f) => [f.kind, f.text, grouped(f.count)]));
  await page.shot("check");

  await page.open("#/runs/farm/ranks", "[data-table=ranks]");
  const report = page.document("report", "farm");
  const ranks = await page.table("ranks");
  assert.deepEqual(ranks.map((r) => [r.rank, r.calls]), report.ranks.map((r) => [String(r.rank), grouped(r.calls)]));
}

// The table of ranks has the rows of the report, whatever part of it is looked at.
async function ranks(page) {
  const report = page.document("report", "halo");
  const text = (r) => ({ rank: String(r.rank), threads: "1", calls: grouped(r.calls), app: nanos(r.app), time: nanos(r.time.sum), setup: nanos(r.setup), "%app": percent(r.time.sum, r.app), sent: bytes(r.sent), received: bytes(r.received), "per call": bytes(r.sent / r.calls) });
  const shown = (rank) => page.settled((r) => [...document.querySelectorAll("[data-table=ranks] tbody td:first-child")].some((c) => c.textContent === r), String(rank));
  const same = async () => {
    const rows = (await page.table("ranks")).filter((r) => r.rank !== "…");
    assert.ok(rows.length > 20);
    for (const row of rows) assert.deepEqual(row, text(report.ranks[Number(row.rank)]));
    return rows.map((r) => Number(r.rank));
  };
  await page.open("#/runs/halo/ranks", "[data-table=ranks] tbody td");
  await shown(5);
  await same();
  await page.tab.focus("[data-table=ranks]");
  await page.tab.keyboard.press("End");
  await shown(1023);
  await same();
  await page.tab.click("[data-table=ranks] th >> text=%app");
  const share = (r) => r.time.sum / r.app;
  const wanted = report.ranks.toSorted((a, b) => share(b) - share(a) || a.rank - b.rank).map((r) => r.rank);
  await page.tab.keyboard.press("Home");
  await shown(wanted[0]);
  const order = await same();
  assert.deepEqual(order, wanted.slice(0, order.length));
  await page.tab.click("[data-table=ranks] th >> text=%app");
  await shown(wanted.at(-1));
  await page.open("#/runs/halo/ranks?q=700-,3", "[data-table=ranks] tbody td");
  assert.equal(await page.tab.getAttribute("[data-table=ranks] table", "aria-rowcount"), "326");
  assert.match(await page.text("[data-table=ranks] .note"), /325 of 1,024 rows match/);
  await page.open("#/runs/halo/ranks?q=all", ".note");
  assert.match(await page.text(".note"), /No ranks match/);

  // Of many ranks a point of the curve is several.
  await page.open("#/runs/halo/imbalance", ".plot .u-wrap");
  const drawn = await page.tab.evaluate(() => document.querySelector(".plot").plot.data.map((d) => [...d]));
  const of = (f) => drawn[0].map((first) => f(...report.ranks.slice(first, first + 2).map((r) => r.time.sum)));
  assert.deepEqual(drawn, [drawn[0], of(Math.max), of((a, b) => (a + b) / 2), of(Math.min)]);
  assert.deepEqual(drawn[0].slice(0, 3), [0, 2, 4]);
}

async function diff(page) {
  await page.open("#/runs/farm/diff", "[data-table=diff-classes]");
  const all = page.document("diff", "farm");
  assert.equal((await page.table("diff-classes")).length, all.classes.length);
  assert.deepEqual((await page.table("diff-imbalance")).map((r) => r.procedure), all.imbalance.map((r) => r.op));
  await page.shot("diff-classes");
  await page.tab.click("[data-table=diff-classes] tbody tr:nth-child(2)");
  await page.ready("[data-table=diff-structure]");
  assert.match(await page.hash(), /ranks=\d+%2C\d+/);

  await page.open("#/runs/jacobi/diff?ranks=0,3", "[data-table=diff-callsites]");
  const pair = page.document("diff", "jacobi", "--ranks", "0,3");
  const sites = await page.table("diff-callsites");
  assert.deepEqual(sites.map((r) => r.callsite), pair.callsites.map((c) => c.site));
  assert.deepEqual(sites.map((r) => r["calls rank 0"]), pair.callsites.map((c) => grouped(c.sides[0].calls)));
  assert.equal((await page.table("diff-structure")).length, pair.structure.length);
  await page.shot("diff-ranks");

  await page.open("#/runs/jacobi/diff?with=traced", "[data-table=diff-totals]");
  const two = page.document("diff", "jacobi", page.file("traced"));
  const totals = await page.table("diff-totals");
  assert.deepEqual([totals[1].this, totals[1].other], two.calls.map(grouped));
  assert.equal((await page.table("diff-callsites")).length, two.callsites.length);
  await page.shot("diff-runs");
}

export const checks = {
  runs, summary, imbalance, matrix, "matrix of 1,024 ranks": matrixOfMany, "matrix in another order": ordered, "blocks of a matrix": zoom, tables, ranks, diff,
  ...whyChecks, ...fleetChecks, ...namedChecks, ...linkedChecks, ...flameChecks, ...accessChecks, ...referenceChecks, ...graphChecks, ...timelineChecks, ...useChecks,
};
