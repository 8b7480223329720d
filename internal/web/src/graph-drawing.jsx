// Draws the graph where the server says that its nodes and edges are.

import { heat, css } from "./colours.js";
import { grouped, percent } from "./format.js";

// Of texts in nodes, in points, as the server has them.
const padding = 7, lineHeight = 14, ascent = 10.5;
const arrow = 7;

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

const isApart = (n, measure) => measure === "time" && apart(n);

const apartText = "apart from the time in MPI";

// roomForShares are the characters of the longest line with a share.
export const roomForShares = apartText.length;

function shareText(n, share, measure) {
  return isApart(n, measure) ? apartText : `${percent(share, 1)} of the ${measure === "time" ? "time in MPI" : measure}`;
}

// Drawing is the picture of a layout. Colours tell the share of a measure in the whole. A layout of a job
// that goes on may have nodes that are not among those shown.
export function Drawing({ layout, nodes, measure, dark, chosen, linked }) {
  const total = wholeOf(nodes, measure);
  const byID = new Map(nodes.map((n) => [n.id, n]));
  const marked = new Set(linked);
  return (
    <svg viewBox={`0 0 ${layout.width} ${layout.height}`} xmlns="http://www.w3.org/2000/svg">
      {layout.edges.map((e) => <Curve key={`${e.from} ${e.to}`} edge={e} />)}
      {layout.nodes.map((b) => {
        const n = byID.get(b.id);
        return n && <Node key={b.id} box={b} node={n} share={total ? measures[measure](n) / total : 0} measure={measure} dark={dark} mark={`${b.id === chosen ? " chosen" : ""}${marked.has(b.id) ? " linked" : ""}`} />;
      })}
      {layout.edges.map((e) => <Weight key={`${e.from} ${e.to}`} edge={e} />)}
    </svg>
  );
}

// tipOf is the arrow's tip at the end of an edge, as a polygon, and where its curve ends.
function tipOf(p) {
  const [fx, fy, x, y] = p.slice(-4);
  const length = Math.hypot(x - fx, y - fy) || 1;
  const dx = ((x - fx) / length) * arrow, dy = ((y - fy) / length) * arrow;
  const base = [x - dx, y - dy];
  return { base, polygon: `${x},${y} ${base[0] - dy * 0.4},${base[1] + dx * 0.4} ${base[0] + dy * 0.4},${base[1] - dx * 0.4}` };
}

function Curve({ edge }) {
  const { base, polygon } = tipOf(edge.points);
  const p = [...edge.points.slice(0, -2), ...base];
  let d = `M${p[0]} ${p[1]}`;
  for (let i = 2; i + 5 < p.length; i += 6) d += ` C${p.slice(i, i + 6).join(" ")}`;
  return (
    <g class={edge.back ? "edge back" : "edge"}>
      <path d={d} />
      <polygon points={polygon} />
    </g>
  );
}

// Weight is how often an edge was taken. It is above the nodes: edges may pass close to them.
function Weight({ edge }) {
  const [x, y] = edge.label;
  return (
    <g class={edge.back ? "weight back" : "weight"}>
      <title>{`${edge.from}->${edge.to}`}</title>
      <text x={x} y={y + ascent - lineHeight / 2} text-anchor="middle">{grouped(edge.weight)}</text>
    </g>
  );
}

function Node({ box, node, share, measure, dark, mark }) {
  const { x, y, width, height } = box;
  const colour = heat(isApart(node, measure) ? 0 : Math.sqrt(share), dark); // small shares differ, too
  const left = x - width / 2, top = y - height / 2;
  const lines = [...box.lines, shareText(node, share, measure)];
  return (
    <g class={`node${node.polls && node.polls === node.calls ? " polls" : ""}${mark}`}>
      <title>{box.id}</title>
      <rect class="box" x={left} y={top} width={width} height={height} fill={css(colour)} />
      {node.collapsed && <rect class="inner" x={left + 2.5} y={top + 2.5} width={width - 5} height={height - 5} />}
      {lines.map((line, k) => (
        <text key={k} class={k === 0 ? "first" : undefined} x={left + padding} y={top + padding + k * lineHeight + ascent} fill={inkOn(colour)}>{line}</text>
      ))}
    </g>
  );
}

const inkOn = ([r, g, b]) => (0.299 * r + 0.587 * g + 0.114 * b > 140 ? "#101010" : "#ffffff");
