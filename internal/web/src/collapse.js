// Makes one node of each loop that is not open, of the graph as the server has it
// without collapsing.

// collapse returns nodes and edges. open has the numbers of the loops that are not
// collapsed; a loop in a collapsed one is not seen.
export function collapse(graph, open) {
  const shown = shownLoops(graph.loops ?? [], open);
  const place = new Map(); // node id → id of what it is in
  for (const loop of shown) {
    for (const id of loop.nodes) place.set(id, `loop${loop.number}`);
  }
  const nodes = [];
  const made = new Map();
  for (const n of graph.nodes) {
    const id = place.get(n.id);
    if (!id) nodes.push(n);
    else if (made.has(id)) add(made.get(id), n);
    else {
      const loop = shown.find((l) => `loop${l.number}` === id);
      made.set(id, begin(loop, graph));
      add(made.get(id), n);
      nodes.push(made.get(id));
    }
  }
  return { nodes, edges: joined(graph.edges, place), start: place.get(graph.start) ?? graph.start };
}

// shownLoops are those that become a node: not open, and in none that does.
function shownLoops(loops, open) {
  const within = (l, outer) => l.number.startsWith(`${outer.number}.`);
  const closed = loops.filter((l) => !open.has(l.number));
  return closed.filter((l) => !closed.some((outer) => within(l, outer)));
}

const sums = ["calls", "errors", "sent", "received", "read", "written", "messages", "receives", "polls"];

function begin(loop, graph) {
  const header = graph.nodes.find((n) => n.id === loop.header);
  const node = { id: `loop${loop.number}`, op: header?.op, site: header?.site, args: [], collapsed: true, loop, count: 0 };
  for (const key of sums) node[key] = 0;
  return node;
}

function add(to, n) {
  to.count++;
  for (const key of sums) to[key] += n[key] ?? 0;
  for (const key of ["time", "gap"]) {
    if (!n[key]) continue;
    const t = to[key];
    if (!t) to[key] = { ...n[key] };
    else {
      t.count += n[key].count;
      t.sum += n[key].sum;
      t.min = Math.min(t.min, n[key].min);
      t.max = Math.max(t.max, n[key].max);
    }
  }
}

// joined are the edges between what is shown; those within a collapsed loop are not.
function joined(edges, place) {
  const list = [];
  const by = new Map();
  for (const e of edges) {
    const from = place.get(e.from) ?? e.from, to = place.get(e.to) ?? e.to;
    if (from === to && place.has(e.from)) continue;
    const key = `${from} ${to}`;
    const same = by.get(key);
    if (same) {
      same.weight += e.weight;
      continue;
    }
    const edge = { from, to, weight: e.weight };
    by.set(key, edge);
    list.push(edge);
  }
  return list;
}
