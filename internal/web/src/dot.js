// Writes what is shown of a graph in the language of Graphviz.

import { heat } from "./colours.js";
import { grouped, percent, shorten } from "./format.js";

const mostArgs = 6; // lines of arguments in a node

// measures are what nodes can be coloured by.
export const measures = {
  time: (n) => n.time?.sum ?? 0,
  calls: (n) => n.calls,
  bytes: (n) => n.sent + n.received + n.read + n.written,
};

// apart says that a node begins or ends MPI: its time is not part of the time in MPI.
export const apart = (n) => /^MPI_(Init|Init_thread|Finalize|Session_init|Session_finalize)$/.test(n.op);

// wholeOf sums a measure, as that of which nodes have shares.
export const wholeOf = (nodes, measure) => nodes.reduce((sum, n) => sum + (measure === "time" && apart(n) ? 0 : measures[measure](n)), 0);

// dot writes a graph. Colours tell the share of a measure in the whole.
export function dot({ nodes, edges }, { measure, dark, args }) {
  const of = measures[measure];
  const total = wholeOf(nodes, measure);
  const ink = dark ? "#d8dbe0" : "#1f2328";
  const lines = [
    "digraph {",
    'bgcolor="transparent"; nodesep=0.25; ranksep=0.35;',
    `node [shape=box, style="filled", fontname="Helvetica", fontsize=11, margin="0.12,0.06", color="${dark ? "#8b949e" : "#57606a"}"];`,
    `edge [fontname="Helvetica", fontsize=10, color="${dark ? "#8b949e" : "#57606a"}", fontcolor="${ink}", arrowsize=0.7];`,
  ];
  for (const n of nodes) lines.push(nodeLine(n, measure === "time" && apart(n) ? undefined : total ? of(n) / total : 0, measure, dark, args));
  for (const e of edges) lines.push(`${quote(e.from)} -> ${quote(e.to)} [label=${quote(` ${grouped(e.weight)}`)}];`);
  lines.push("}");
  return lines.join("\n");
}

function nodeLine(n, share, measure, dark, args) {
  const colour = heat(Math.sqrt(share ?? 0), dark); // small shares differ, too
  const text = labelOf(n, args);
  text.push(share === undefined ? "apart from the time in MPI" : `${percent(share, 1)} of the ${measure === "time" ? "time in MPI" : measure}`);
  const more = n.collapsed ? ", peripheries=2" : n.polls && n.polls === n.calls ? ', style="filled,dashed"' : "";
  return `${quote(n.id)} [label=${label(text)}, fillcolor="${hex(colour)}", fontcolor="${inkOn(colour)}"${more}];`;
}

// labelOf are the lines of a node.
function labelOf(n, args) {
  if (n.collapsed) {
    const iterations = `${grouped(n.loop.iterations)} iterations`;
    return [`loop ${n.loop.number}: ${iterations}`, `begins with ${n.op}`, shorten(n.site, 50), `${grouped(n.count)} nodes, ${grouped(n.calls)} calls`];
  }
  const lines = [n.op];
  if (args) {
    lines.push(...n.args.slice(0, mostArgs).map((a) => shorten(a, 44)));
    if (n.args.length > mostArgs) lines.push("…");
  }
  if (n.site) lines.push(shorten(n.site, 50));
  if (n.calls !== 1) lines.push(`${grouped(n.calls)} calls`);
  return lines;
}

const escape = (text) => String(text).replace(/\\/g, "\\\\").replace(/"/g, '\\"').replace(/[\x00-\x1f]/g, " ");
const quote = (text) => `"${escape(text)}"`;
const label = (lines) => `"${lines.map((l) => `${escape(l)}\\l`).join("")}"`;
const hex = (rgb) => `#${rgb.map((v) => v.toString(16).padStart(2, "0")).join("")}`;
const inkOn = ([r, g, b]) => (0.299 * r + 0.587 * g + 0.114 * b > 140 ? "#101010" : "#ffffff");
