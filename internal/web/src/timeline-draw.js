// How a timeline is drawn: pixels of rows, and over them collective calls, waits, messages, the critical
// path, what is selected, and regions.

import { rangesIn, sameSite } from "./selection.js";
import { drawRegions } from "./timeline-regions.js";
import { membersOf, nothing, other, outside, ticks, unread } from "./timeline.js";

export const left = 76, top = 24; // pixels for ranks and times
export const mostArrows = 400; // messages, and collective calls, that are drawn: more hide each other

// special are the colours of what is no procedure.
export const special = (dark) => (dark
  ? { [outside]: [62, 68, 77], [other]: [150, 150, 150], [unread]: [100, 90, 60], [nothing]: [22, 25, 29] }
  : { [outside]: [222, 226, 231], [other]: [110, 110, 110], [unread]: [250, 240, 200], [nothing]: [255, 255, 255] });

// parts reads a colour as CSS writes it: [red, green, blue].
const parts = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));

export function palette(view, dark, only) {
  const none = special(dark);
  const list = [];
  for (let i = 0; i < 256; i++) list.push(none[i] ?? none[other]);
  view.legend.forEach((p, i) => {
    const c = parts(p.colour);
    list[i + 1] = only && only !== p.op ? mix(c, none[outside], 0.85) : c;
  });
  return list;
}

const mix = (a, b, part) => a.map((v, i) => Math.round(v + part * (b[i] - v)));

export function paint(view, colours) {
  const height = view.rows.length;
  const data = new ImageData(view.width, height);
  const pixels = new Uint32Array(data.data.buffer);
  const words = colours.map(([r, g, b]) => (255 << 24) | (b << 16) | (g << 8) | r);
  for (let i = 0; i < pixels.length; i++) pixels[i] = words[view.pixels[i]];
  const canvas = new OffscreenCanvas(view.width, height);
  canvas.getContext("2d").putImageData(data, 0, 0);
  return canvas;
}

// rowsOf are the numbers of the rows that show one rank, by rank.
export const rowsOf = (view) => new Map(view.rows.map(([first, last], i) => [first === last ? first : -1, i]));

// drawFlows draws waits as hatching over the calls, messages as lines from where they are sent to where they
// are received, and what is chosen.
function drawFlows(g, style, { view, from, side, rowHeight, flows, path, chosen, selection }, per) {
  const rows = rowsOf(view);
  const x = (time) => left + (time - from) * per;
  if (flows && rowHeight >= 4) {
    g.fillStyle = hatching(g, style.getPropertyValue("--waiting"), style.getPropertyValue("--back"));
    for (const w of flows.waits) {
      const row = rows.get(w.rank);
      if (row !== undefined) g.fillRect(x(w.begin), top + row * rowHeight, Math.max(1, (w.end - w.begin) * per), rowHeight);
    }
    if (flows.collectiveCount <= mostArrows) drawCollectives(g, style, flows.collectives, { rows, x, rowHeight });
    if (flows.messageCount <= mostArrows) {
      g.strokeStyle = g.fillStyle = style.getPropertyValue("--ink");
      for (const m of flows.messages) arrow(g, x(m.sent), rows.get(m.from), x(m.received), rows.get(m.to), rowHeight);
    }
  }
  if (path) drawPath(g, style, { view, from, to: from + side.width / per, rowHeight, path }, x);
  drawSelection(g, style, { view, from, side, rowHeight, selection }, per);
  const at = chosen.at(-1);
  const row = at && rows.get(at.rank);
  if (row !== undefined) {
    g.strokeStyle = style.getPropertyValue("--ink");
    g.lineWidth = 2;
    g.strokeRect(Math.max(left - 3, Math.min(left + side.width + 3, x(at.time))) - 3, top + row * rowHeight, 6, rowHeight);
    g.lineWidth = 1;
  }
}

// drawCollectives draws collective calls as bands: from where each rank enters to where it leaves. Where
// rows in between have no part in it, there are lines.
function drawCollectives(g, style, collectives, { rows, x, rowHeight }) {
  g.fillStyle = style.getPropertyValue("--band");
  g.strokeStyle = style.getPropertyValue("--ink");
  g.setLineDash([5, 3]);
  for (const c of collectives) {
    const parts = c.parts.map(([rank, begin, end]) => [rows.get(rank), x(begin), x(end)]).filter(([row]) => row !== undefined).toSorted((a, b) => a[0] - b[0]);
    if (parts.length < 2) continue;
    g.beginPath();
    for (const edge of [1, 2]) {
      parts.forEach((part, i) => {
        const y = top + part[0] * rowHeight;
        if (i) g.lineTo(part[edge], y);
        else g.moveTo(part[edge], y);
        g.lineTo(part[edge], y + rowHeight);
      });
    }
    g.stroke();
    for (const [row, a, b] of parts) g.fillRect(a, top + row * rowHeight, b - a, rowHeight);
  }
  g.setLineDash([]);
}

// apart is how far lines from row to row are apart at least: closer ones would hide what is below.
const apart = 8;

// drawPath draws the critical path as a line from row to row. Where it changes rows too often for that,
// only the parts in the rows are drawn.
function drawPath(g, style, { view, from, to, rowHeight, path }, x) {
  const row = (rank) => view.rows.findIndex(([first, last]) => first <= rank && rank <= last);
  g.beginPath();
  let on = false, changed = -Infinity;
  for (const [rank, begin, end] of path.segments) {
    const at = end < from || begin > to ? -1 : row(rank);
    if (at >= 0) {
      const y = top + (at + 0.5) * rowHeight;
      if (on && x(begin) - changed >= apart) {
        g.lineTo(x(begin), y);
        changed = x(begin);
      } else {
        g.moveTo(x(begin), y);
      }
      g.lineTo(x(end), y);
    }
    on = at >= 0;
  }
  for (const [colour, width] of [["--back", 4], ["--path", 2]]) {
    g.strokeStyle = style.getPropertyValue(colour);
    g.lineWidth = width;
    g.stroke();
  }
  g.lineWidth = 1;
}

// drawSelection outlines the calls of the selected callsite, where calls are known one by one, and shades
// what is not of the selected time.
function drawSelection(g, style, { view, from, side, rowHeight, selection }, per) {
  const x = (time) => left + (time - from) * per;
  if (selection.site && view.slices) {
    const rows = rowsOf(view);
    g.strokeStyle = style.getPropertyValue("--ink");
    for (const [rank, , start, end, , site] of view.slices) {
      const row = rows.get(rank);
      if (row === undefined || !sameSite(view.sites[site], selection.site)) continue;
      g.strokeRect(x(start) + 0.5, top + row * rowHeight + 1.5, Math.max(1, (end - start) * per - 1), Math.max(1, rowHeight - 3));
    }
  }
  if (!selection.span) return;
  g.fillStyle = style.getPropertyValue("--shade");
  const [a, b] = selection.span.map((t) => Math.max(left, Math.min(left + side.width, x(t))));
  g.fillRect(left, top, a - left, side.height);
  g.fillRect(b, top, left + side.width - b, side.height);
  g.fillStyle = style.getPropertyValue("--accent");
  for (const edge of [a, b]) g.fillRect(edge - 0.5, top, 1, side.height);
}

function hatching(g, line, back) {
  const tile = new OffscreenCanvas(6, 6);
  const t = tile.getContext("2d");
  t.lineWidth = 1.5;
  for (const [colour, by] of [[back, 1.5], [line, 0]]) {
    t.strokeStyle = colour;
    t.beginPath();
    for (const k of [-6, 0, 6]) {
      t.moveTo(k + by - 1, 7);
      t.lineTo(k + by + 7, -1);
    }
    t.stroke();
  }
  return g.createPattern(tile, "repeat");
}

function arrow(g, x0, fromRow, x1, toRow, rowHeight) {
  if (fromRow === undefined || toRow === undefined) return;
  const [y0, y1] = [top + (fromRow + 0.5) * rowHeight, top + (toRow + 0.5) * rowHeight];
  g.beginPath();
  g.moveTo(x0, y0);
  g.lineTo(x1, y1);
  g.stroke();
  const angle = Math.atan2(y1 - y0, x1 - x0);
  g.beginPath();
  g.moveTo(x1, y1);
  for (const by of [-0.4, 0.4]) g.lineTo(x1 - 7 * Math.cos(angle + by), y1 - 7 * Math.sin(angle + by));
  g.fill();
}

export function draw(canvas, image, state) {
  const { view, from, to, side, rowHeight } = state;
  const scale = devicePixelRatio;
  canvas.width = Math.round((left + side.width + 4) * scale);
  canvas.height = Math.round((top + side.height) * scale);
  canvas.style.width = `${left + side.width + 4}px`;
  canvas.style.height = `${top + side.height}px`;
  const g = canvas.getContext("2d");
  g.scale(scale, scale);
  g.imageSmoothingEnabled = false;
  g.save();
  g.beginPath();
  g.rect(left, top, side.width, side.height);
  g.clip();
  const per = side.width / (to - from); // pixels of a nanosecond
  g.drawImage(image, left + (view.from - from) * per, top, view.width * view.pixel * per, side.height);
  const style = getComputedStyle(document.documentElement);
  drawFlows(g, style, state, per);
  drawRegions(g, style, state, per);
  g.restore();
  g.fillStyle = style.getPropertyValue("--quiet");
  g.font = "11px system-ui, sans-serif";
  g.textBaseline = "middle";
  timeAxis(g, from, to, side, per);
  rankAxis(g, style, state);
  const host = (i) => state.hosts?.get(view.rows[i][0]);
  for (let i = 1; i < view.rows.length; i++) {
    const apart = host(i) !== host(i - 1);
    g.fillStyle = style.getPropertyValue(apart ? "--ink" : "--back");
    if (apart || rowHeight >= 6) g.fillRect(left, top + i * rowHeight - 0.5, side.width, 1);
  }
}

function timeAxis(g, from, to, side, per) {
  g.textAlign = "center";
  for (const t of ticks(from, to, Math.max(2, side.width / 110))) {
    const x = left + (t - from) * per;
    g.fillRect(x, top - 6, 1, 5);
    if (x < left + side.width - 20) g.fillText(tickText(t, to - from), x, 8);
  }
}

// tickText has as many digits as tell ticks of a view apart.
export function tickText(t, length) {
  const units = [[1, "ns"], [1e3, "µs"], [1e6, "ms"], [1e9, "s"]];
  const [size, unit] = units.findLast(([s]) => t >= s) ?? units[0];
  const digits = Math.max(0, Math.min(9, Math.ceil(Math.log10(size / (length / 20)))));
  return `${(t / size).toFixed(digits)} ${unit}`;
}

// label names a row: by its first rank, and of a class by how many others are like it.
function label(view, y) {
  const [first, , ranks] = view.rows[y];
  return view.members && ranks > 1 ? `${first} +${ranks - 1}` : `rank ${first}`;
}

function rankAxis(g, style, { view, rowHeight, selection }) {
  g.textAlign = "right";
  let step = 1;
  while (step * rowHeight < 14) step *= 2;
  for (let i = 0; i < view.rows.length; i += step) {
    g.fillText(label(view, i), left - 8, top + (i + 0.5) * rowHeight);
  }
  if (!selection.rankRanges) return;
  g.fillStyle = style.getPropertyValue("--accent");
  view.rows.forEach((_, i) => {
    if (rangesIn(membersOf(view, i)).some(([first, last]) => selection.rankRanges.some(([a, b]) => a <= last && first <= b))) g.fillRect(left - 5, top + i * rowHeight, 4, rowHeight);
  });
}
