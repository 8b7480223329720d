// The picture of a communication matrix: which ranks are where, and how it is drawn. A
// matrix here is the document with bins: cells of width × width ranks, of a block.

import { heat } from "./colours.js";

// leastBlock is how many ranks a block has at least that keys and the wheel zoom to.
const leastBlock = 4;
export const left = 84, top = 44; // for the numbers of the ranks, and what they are

// block is the block of so many times the size around a place, given in ranks; as large as
// there are ranks at most.
export function block(matrix, factor, [fromAt, toAt]) {
  const part = ([first, last], at) => {
    const size = Math.min(matrix.ranks, Math.max(leastBlock, Math.round((last - first + 1) * factor)));
    const start = Math.round(at - ((at - first) / (last - first + 1)) * size);
    return span(Math.max(0, Math.min(matrix.ranks - size, start)), size);
  };
  return [part(matrix.from, fromAt), part(matrix.to, toAt)];
}

export const span = (start, size) => [start, start + size - 1];

// placesIn are the places of the senders and receivers in a rectangle of cells: ranks, unless
// they are in another order.
export function placesIn(matrix, { a, b }) {
  const part = (limits, x, y) => [limits[0] + Math.min(x, y) * matrix.width, Math.min(limits[1], limits[0] + (Math.max(x, y) + 1) * matrix.width - 1)];
  return [part(matrix.from, a.i, b.i), part(matrix.to, a.j, b.j)];
}

// expanded lists the numbers of runs of first, count and stride.
const expanded = (runs) => runs.flatMap(([first, count, stride]) => Array.from({ length: count }, (_, i) => first + i * stride));

// namer tells which ranks are at places of a side, "from" or "to": as ranges; undefined if the
// answer does not say.
export function namer(matrix, side) {
  if (matrix.order === "rank") return ([first, last]) => [[first, last]];
  const runs = side === "from" ? matrix.senders : matrix.receivers;
  if (!runs) return () => undefined;
  const list = expanded(runs), start = matrix[side][0];
  return ([first, last]) => rangesOf(list.slice(first - start, last - start + 1));
}

// rangesOf are ranks as ranges, ascending.
export function rangesOf(ranks) {
  const out = [];
  for (const r of ranks.toSorted((x, y) => x - y)) {
    const end = out.at(-1);
    if (end && r <= end[1] + 1) end[1] = Math.max(end[1], r);
    else out.push([r, r]);
  }
  return out;
}

// extent finds the least number that is not 0, and the most.
export function extent(cells) {
  let least = Infinity, most = 0;
  for (const row of cells) {
    for (const n of row) {
      if (n > 0 && n < least) least = n;
      if (n > most) most = n;
    }
  }
  return { least: most ? least : 0, most };
}

// level is where a number lies between least and most, 0 to 1.
export function level(n, { least, most }, scale) {
  if (least === most) return 1;
  if (scale === "linear") return n / most;
  return (Math.log(n) - Math.log(least)) / (Math.log(most) - Math.log(least));
}

export const nothing = (dark) => (dark ? [30, 33, 38] : [240, 240, 240]);

export function paint(cells, range, scale, dark) {
  const high = cells.length, wide = cells[0].length;
  const data = new ImageData(wide, high);
  const none = nothing(dark);
  for (let i = 0; i < high; i++) {
    for (let j = 0; j < wide; j++) {
      const n = cells[i][j];
      const [r, g, b] = n > 0 ? heat(level(n, range, scale), dark) : none;
      data.data.set([r, g, b, 255], 4 * (i * wide + j));
    }
  }
  const canvas = new OffscreenCanvas(wide, high);
  canvas.getContext("2d").putImageData(data, 0, 0);
  return canvas;
}

// draw draws the picture; chosen is a rectangle of cells, selected are ranges of ranks.
export function draw(canvas, image, matrix, { wide, high }, unit, chosen, selected = []) {
  const scale = devicePixelRatio;
  canvas.width = Math.round((left + wide + 8) * scale);
  canvas.height = Math.round((top + high + 8) * scale);
  canvas.style.width = `${left + wide + 8}px`;
  canvas.style.height = `${top + high + 8}px`;
  const g = canvas.getContext("2d");
  g.scale(scale, scale);
  g.imageSmoothingEnabled = false;
  g.drawImage(image, left, top, wide, high);
  const style = getComputedStyle(document.documentElement);
  if (unit >= 6) grid(g, matrix, wide, high, unit, style.getPropertyValue("--back"));
  axes(g, matrix, wide, high, unit, style.getPropertyValue("--quiet"));
  mark(g, matrix, selected, { wide, high }, unit, style.getPropertyValue("--accent"));
  if (chosen) {
    const { a, b } = chosen;
    g.strokeStyle = style.getPropertyValue("--ink");
    g.lineWidth = 1.5;
    const length = (x, y) => Math.max((Math.abs(x - y) + 1) * unit, 3);
    g.strokeRect(left + Math.min(a.j, b.j) * unit, top + Math.min(a.i, b.i) * unit, length(a.j, b.j), length(a.i, b.i));
  }
}

// mark shows selected ranks at both axes.
function mark(g, matrix, selected, { wide, high }, unit, colour) {
  g.fillStyle = colour;
  if (matrix.order !== "rank") return markPlaces(g, matrix, selected, unit);
  for (const [first, last] of selected) {
    const part = ([from], length) => [Math.max(0, ((first - from) / matrix.width) * unit), Math.min(length, ((last + 1 - from) / matrix.width) * unit)];
    const [y, down] = part(matrix.from, high), [x, right] = part(matrix.to, wide);
    if (down > y) g.fillRect(left - 4, top + y, 4, Math.max(2, down - y));
    if (right > x) g.fillRect(left + x, top - 4, Math.max(2, right - x), 4);
  }
}

// markPlaces does so where the ranks are in another order.
function markPlaces(g, matrix, selected, unit) {
  if (selected.length === 0) return;
  const has = (ranges) => ranges?.some(([a, b]) => selected.some(([c, d]) => a <= d && c <= b));
  for (const [side, count] of [["from", matrix.rows], ["to", matrix.columns]]) {
    const named = namer(matrix, side);
    for (let i = 0; i < count; i++) {
      const first = matrix[side][0] + i * matrix.width;
      if (!has(named([first, Math.min(matrix[side][1], first + matrix.width - 1)]))) continue;
      if (side === "from") g.fillRect(left - 4, top + i * unit, 4, Math.max(2, unit));
      else g.fillRect(left + i * unit, top - 4, Math.max(2, unit), 4);
    }
  }
}

function grid(g, matrix, wide, high, unit, colour) {
  g.fillStyle = colour;
  for (let j = 1; j < matrix.columns; j++) g.fillRect(left + j * unit - 0.5, top, 1, high);
  for (let i = 1; i < matrix.rows; i++) g.fillRect(left, top + i * unit - 0.5, wide, 1);
}

function axes(g, matrix, wide, high, unit, colour) {
  g.fillStyle = colour;
  g.font = "11px system-ui, sans-serif";
  g.textBaseline = "middle";
  const named = { from: namer(matrix, "from"), to: namer(matrix, "to") };
  const label = (side, i) => {
    const place = matrix[side][0] + i * matrix.width;
    return matrix.order === "rank" ? String(place) : String(named[side]([place, place])?.[0]?.[0] ?? "");
  };
  const digits = String(matrix.ranks).length;
  let step = 1;
  while (step * unit < 16 + 7 * digits) step *= 2;
  g.textAlign = "right";
  for (let i = 0; i < matrix.rows; i += step) {
    const at = top + (i + 0.5) * unit;
    g.fillText(label("from", i), left - 8, at);
    g.fillRect(left - 5, at, 4, 1);
  }
  g.textAlign = "center";
  for (let j = 0; j < matrix.columns; j += step) {
    const at = left + (j + 0.5) * unit;
    g.fillText(label("to", j), at, top - 12);
    g.fillRect(at, top - 5, 1, 4);
  }
  g.textAlign = "left";
  g.fillText("to rank", left, 8);
  g.save();
  g.translate(9, top + Math.min(high, 60));
  g.rotate(-Math.PI / 2);
  g.fillText("from rank", 0, 0);
  g.restore();
}

