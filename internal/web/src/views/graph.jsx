// The event flow graph of a thread of a rank.

import { useMemo, useState } from "preact/hooks";
import { collapse } from "../collapse.js";
import { address, useStored } from "../data.js";
import { bytes, grouped, nanos, percent, plural } from "../format.js";
import { apart, Drawing, measures, roomForShares, wholeOf } from "../graph-drawing.jsx";
import { Check, Choice, Facts, Note, NumberField, Problem, Search, Wait } from "../parts.jsx";
import { change } from "../route.js";
import { asQuery, isSelected, selectionIn } from "../selection.js";
import { Table, textFilter } from "../table.jsx";
import { useDark } from "../theme.js";
import { Picture } from "../picture.jsx";
import { opColumn, siteColumn } from "./columns.jsx";

// drawn is how many nodes and edges are drawn without asking.
const drawn = 600;

export function Graph({ id, run, query }) {
  const rank = Number(query.rank ?? 0), thread = Number(query.thread ?? 0);
  const graph = useStored(address(id, "graph", { rank, thread, format: "json" }));
  return (
    <>
      <div class="bar-tools">
        <h2>Graph</h2>
        <NumberField label="of rank" name="rank" value={rank} most={1e9} />
        {run.threads > run.processes && <NumberField label="thread" name="thread" value={thread} most={1e6} />}
        <Choice label="colours" name="colour" value={query.colour ?? "time"} values={[["time", "time"], ["calls", "calls"], ["bytes", "bytes"]]} />
        <Check label="arguments" name="args" on={Boolean(query.args)} />
      </div>
      <Wait on={graph}>{(g) => <Shown graph={g} id={id} query={query} />}</Wait>
    </>
  );
}

// about says what a node is about; args have its communicator.
const about = (n) => ({ at: [n], loop: n.loop?.number ?? n.loop, comm: commOf(n) });
const commOf = (n) => n.args.find((a) => a.startsWith("comm="))?.slice("comm=".length);

// choose shows the numbers of a node, and selects its call.
const choose = (n) => change({ node: n?.id ?? "", ...(n ? asQuery(n.collapsed ? { loop: n.loop.number, op: "", site: "" } : { op: n.op, site: n.site, loop: "" }) : {}) }, true);

// linkedNodes are those about what is selected; of a collapsed loop one in it is enough.
function linkedNodes(selection, graph, shown) {
  if (!selection.some) return [];
  const inside = new Set(graph.nodes.filter((n) => isSelected(selection, about(n))).map((n) => n.id));
  return shown.nodes.filter((n) => (n.collapsed ? n.loop.nodes.some((i) => inside.has(i)) : inside.has(n.id))).map((n) => n.id);
}

function Shown({ graph, id, query }) {
  const open = useMemo(() => opened(graph, query.open), [graph, query.open]);
  const shown = useMemo(() => collapse(graph, open), [graph, open]);
  const measure = graph.timed || query.colour ? query.colour ?? "time" : "calls";
  const [anyway, setAnyway] = useState(false);
  const size = shown.nodes.length + shown.edges.length;
  const node = shown.nodes.find((n) => n.id === query.node);
  const selection = selectionIn(query);
  const linked = useMemo(() => linkedNodes(selection, graph, shown), [graph, shown, JSON.stringify(selection)]);
  return (
    <>
      <Note>
        {`${plural(graph.events, "event")}, ${plural(graph.nodes.length, "node")}, ${plural(graph.edges.length, "edge")}, ${plural(graph.loops?.length ?? 0, "loop")}; shown: `}
        <span data-figure="shown">{`${plural(shown.nodes.length, "node")}, ${plural(shown.edges.length, "edge")}`}</span>
      </Note>
      <LoopSwitches graph={graph} open={open} />
      {size > drawn && !anyway ? (
        <p class="note">
          {`To draw ${plural(shown.nodes.length, "node")} and ${plural(shown.edges.length, "edge")} may take long, and show little. `}
          {open.size > 0 && <button type="button" onClick={() => change({ open: "" })}>collapse all loops</button>}{" "}
          <button type="button" onClick={() => setAnyway(true)}>draw it anyway</button>
        </p>
      ) : (
        <Placed id={id} graph={graph} shown={shown} measure={measure} args={Boolean(query.args)} chosen={node?.id} linked={linked} open={open} />
      )}
      {node && <Chosen node={node} graph={graph} shown={shown} open={open} />}
      <Nodes shown={shown} graph={graph} query={query} />
    </>
  );
}

// opened are the loops that are open, as the address has them.
function opened(graph, text) {
  const all = (graph.loops ?? []).map((l) => l.number);
  if (text === "all") return new Set(all);
  return new Set((text ?? "").split(",").filter((n) => all.includes(n)));
}

function toggle(open, number) {
  const next = new Set(open);
  if (next.has(number)) {
    for (const n of open) {
      if (n === number || n.startsWith(`${number}.`)) next.delete(n);
    }
  } else {
    next.add(number);
  }
  change({ open: [...next].join(","), node: "" });
}

function LoopSwitches({ graph, open }) {
  if (!graph.loops?.length) return null;
  return (
    <p class="note">
      <button type="button" disabled={open.size === graph.loops.length} onClick={() => change({ open: "all", node: "" })}>open all loops</button>{" "}
      <button type="button" disabled={open.size === 0} onClick={() => change({ open: "", node: "" })}>collapse all loops</button>
      {open.size > 0 && [...open].slice(0, 20).map((n) => (
        <button key={n} type="button" class="plain" onClick={() => toggle(open, n)} title={`collapse loop ${n}`}>{`loop ${n} ✕`}</button>
      ))}
    </p>
  );
}

// layoutOf asks where the nodes are, with these loops open.
function layoutOf(id, graph, open, args) {
  const all = open.size > 0 && open.size === graph.loops.length;
  return address(id, "graph/layout", { rank: graph.rank, thread: graph.thread, open: all ? "all" : [...open].sort().join(","), arguments: args, room: roomForShares });
}

// Placed draws the graph where the server places its nodes; until then as it was drawn before.
function Placed({ id, graph, shown, measure, args, chosen, linked, open }) {
  const dark = useDark();
  const layout = useStored(layoutOf(id, graph, open, args));
  const click = (node, twice) => {
    const n = shown.nodes.find((n) => n.id === node);
    if (twice && n?.collapsed) toggle(open, n.loop.number);
    else choose(n);
  };
  if (layout.error) return <Problem text={layout.error.message} />;
  const current = layout.data ?? layout.last;
  return (
    <>
      {!layout.data && <Note>placing the nodes …</Note>}
      {current && (
        <Picture shown={current} ready={Boolean(layout.data)} click={click} label={`event flow graph, ${plural(shown.nodes.length, "node")}`}>
          <Drawing layout={current} nodes={shown.nodes} measure={measure} dark={dark} chosen={chosen} linked={linked} />
        </Picture>
      )}
      <Note>Drag moves, the wheel or + and − zoom, 0 shows all. A click shows a node’s numbers, a double click opens a loop.</Note>
    </>
  );
}

function Chosen({ node, graph, shown, open }) {
  const total = wholeOf(graph.nodes, "time");
  const out = shown.edges.filter((e) => e.from === node.id);
  const name = node.collapsed ? `loop ${node.loop.number}` : `${node.id}: ${node.op}`;
  const within = !node.collapsed && node.loop;
  return (
    <aside class="chosen" aria-label="chosen node">
      <h3>{name}</h3>
      {node.collapsed && <button type="button" onClick={() => toggle(open, node.loop.number)}>open this loop</button>}
      {within && <button type="button" onClick={() => toggle(open, within)}>{`collapse loop ${within}`}</button>}
      {node.args.length > 0 && <pre>{node.args.join("\n")}</pre>}
      <Facts
        list={[
          ["at", node.site],
          ["begins with", node.collapsed ? node.op : undefined],
          ["iterations", node.collapsed ? `${grouped(node.loop.iterations)}; entered ${plural(node.loop.entries, "time")}` : undefined],
          ["calls", grouped(node.calls)],
          ["polls that found nothing", node.polls ? grouped(node.polls) : undefined],
          ["errors", node.errors || undefined],
          ["time", node.time && `${nanos(node.time.sum)}, ${apart(node) ? "apart from" : `${percent(node.time.sum, total)} of`} the time in MPI`],
          ["of one call", node.time && `${nanos(node.time.sum / node.time.count)} (${nanos(node.time.min)} to ${nanos(node.time.max)})`],
          ["before it", node.gap && `${nanos(node.gap.sum / node.gap.count)} on average`],
          ["sent", node.sent ? bytes(node.sent) : undefined],
          ["received", node.received ? bytes(node.received) : undefined],
          ["read", node.read ? bytes(node.read) : undefined],
          ["written", node.written ? bytes(node.written) : undefined],
          ["then", out.slice(0, 8).map((e) => `${e.to} ${grouped(e.weight)}×`).join(", ")],
        ]}
      />
    </aside>
  );
}

function Nodes({ shown, graph, query }) {
  const of = measures.time;
  const total = wholeOf(shown.nodes, "time");
  return (
    <>
      <div class="bar-tools">
        <h2>Nodes</h2>
        <Search value={query.q} label="filter nodes" />
      </div>
      <Table
        name="nodes" caption="nodes" rows={shown.nodes} open={choose} place={about} selected={(n) => n.id === query.node}
        matches={textFilter(query.q, (n) => `${n.id} ${n.op} ${n.site} ${n.args.join(" ")}`)}
        columns={[
          { head: "node", text: (n) => n.id },
          opColumn, siteColumn,
          { head: "calls", right: true, value: (n) => n.calls, text: (n) => grouped(n.calls) },
          ...(graph.timed ? [
            { head: "time", right: true, value: of, text: (n) => nanos(of(n)), bar: (n) => (total && !apart(n) ? of(n) / total : 0) },
            { head: "mean", right: true, value: (n) => (n.time ? n.time.sum / n.time.count : 0), text: (n) => (n.time ? nanos(n.time.sum / n.time.count) : "-") },
          ] : []),
          { head: "sent", right: true, value: (n) => n.sent, text: (n) => (n.sent ? bytes(n.sent) : "-") },
          { head: "arguments", text: (n) => n.args.join(", "), most: 50 },
        ]}
      />
    </>
  );
}
