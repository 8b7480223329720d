// The graph: what is drawn is compared with efg graph, collapsed in the same way.

import assert from "node:assert/strict";
import { collapse } from "../src/collapse.js";
import { grouped } from "../src/format.js";

const graphOf = (page, name, ...args) => JSON.parse(page.efg("graph", page.file(name), "--format", "json", ...args));
const drawnNodes = (page) => page.tab.$$eval(".picture g.node > title", (list) => list.map((t) => t.textContent));
const drawnEdges = (page) => page.tab.$$eval(".picture g.weight", (list) => list.map((e) => [...e.querySelector("title").textContent.split("->"), e.querySelector("text").textContent.trim()]));
const edgesOf = (graph) => graph.edges.map((e) => [e.from, e.to, grouped(e.weight)]);
const sorted = (list) => list.map((x) => x.join(" ")).sort();
const nodesAre = (page, n) => page.settled((want) => document.querySelectorAll(".picture g.node").length === want, n);

async function graph(page) {
  await page.open("#/runs/nest/graph", "[data-ready=graph]");
  const closed = graphOf(page, "nest", "--collapse=1");
  assert.deepEqual((await drawnNodes(page)).sort(), closed.nodes.map((n) => n.id).sort());
  assert.deepEqual(sorted(await drawnEdges(page)), sorted(edgesOf(closed)));
  await page.shot("graph");

  await page.tab.click("text=open all loops");
  const all = graphOf(page, "nest");
  await nodesAre(page, all.nodes.length);
  assert.deepEqual((await drawnNodes(page)).sort(), all.nodes.map((n) => n.id).sort());
  assert.deepEqual(sorted(await drawnEdges(page)), sorted(edgesOf(all)));
  await page.shot("graph-open");

  await page.tab.goBack();
  await nodesAre(page, closed.nodes.length);
}

// A click shows the numbers of a node, a double click opens a loop.
async function clicks(page) {
  await page.open("#/runs/jacobi/graph", "[data-ready=graph]");
  const all = graphOf(page, "jacobi");
  await page.tab.locator(".picture g.node", { hasText: "MPI_Cart_create" }).click();
  await page.ready("aside.chosen");
  const node = all.nodes.find((n) => n.op === "MPI_Cart_create");
  const shown = await page.text("aside.chosen");
  for (const want of [node.id, node.site, ...node.args]) assert.ok(shown.includes(want), `${want} in ${shown}`);
  assert.match(await page.hash(), new RegExp(`node=${node.id}`));

  await page.tab.locator(".picture g.node", { hasText: "loop 1" }).dblclick();
  const inner = graphOf(page, "jacobi", "--collapse=2");
  await nodesAre(page, inner.nodes.length);
  assert.deepEqual((await drawnNodes(page)).sort(), inner.nodes.map((n) => n.id).sort());
  assert.match(await page.hash(), /open=1/);

  await page.tab.focus(".picture");
  const width = () => page.tab.$eval(".picture svg", (e) => e.getBoundingClientRect().width);
  const before = await width();
  await page.tab.keyboard.press("+");
  const after = await width();
  assert.ok(after > before * 1.2, `zoom: ${before} to ${after}`);
}

// Collapsing in the page gives what the server gives, at every depth.
async function collapsing(page) {
  for (const name of ["nest", "jacobi", "farm"]) {
    const all = graphOf(page, name);
    const depths = Math.max(0, ...all.loops.map((l) => l.depth));
    for (let depth = 1; depth <= depths; depth++) {
      const want = graphOf(page, name, `--collapse=${depth}`);
      const got = collapse(all, new Set(all.loops.filter((l) => l.depth < depth).map((l) => l.number)));
      assert.deepEqual(got.nodes.map((n) => n.id), want.nodes.map((n) => n.id), `${name}, depth ${depth}`);
      assert.deepEqual(sorted(edgesOf(got)), sorted(edgesOf(want)));
      assert.equal(got.start, want.start);
      got.nodes.forEach((n, i) => {
        for (const key of ["op", "site", "calls", "sent", "received", "messages", "errors"]) assert.equal(n[key], want.nodes[i][key], `${n.id} ${key}`);
        if (want.nodes[i].time) assert.deepEqual(n.time, want.nodes[i].time);
      });
    }
  }
}

export const graphChecks = { graph, "graph: clicks and keys": clicks, "graph: collapsing": collapsing };
