// Who sent how much to whom.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { css, heat } from "../colours.js";
import { address, useStored } from "../data.js";
import { bytes, grouped, plural } from "../format.js";
import { Check, Choice, Note, useWidth, Wait } from "../parts.jsx";
import { useDark } from "../theme.js";

// bins is how many rows are asked for: a cell should be more than a pixel.
const bins = innerWidth > 1400 ? 512 : 384;
const mostSide = 1024;
// mostCell keeps the matrix of a few ranks on the screen.
const mostCell = 96;
const left = 64, top = 28; // for the numbers of the ranks

export function Matrix({ id, query }) {
  const matrix = useStored(address(id, "matrix", { bins, collectives: query.collectives && "1", one_sided: query.onesided && "1" }));
  const measure = query.measure === "messages" ? "messages" : "bytes";
  const scale = query.scale === "linear" ? "linear" : "log";
  return (
    <>
      <div class="bar-tools">
        <h2>Communication</h2>
        <Choice label="show" name="measure" value={measure} values={[["bytes", "bytes"], ["messages", "messages"]]} />
        <Choice label="colours" name="scale" value={scale} values={[["log", "logarithmic"], ["linear", "linear"]]} />
        <Check label="collectives" name="collectives" on={Boolean(query.collectives)} />
        <Check label="one-sided" name="onesided" on={Boolean(query.onesided)} />
      </div>
      <Wait on={matrix}>{(m) => <Shown matrix={m} measure={measure} scale={scale} />}</Wait>
    </>
  );
}

function Shown({ matrix, measure, scale }) {
  const write = measure === "bytes" ? bytes : (n) => plural(n, "message");
  const { total, outside } = matrix;
  return (
    <>
      <Note>
        {`in all ${bytes(total.bytes)} in ${plural(total.messages, "message")}`}
        {outside.messages > 0 && `; with processes that are not known: ${bytes(outside.bytes)} in ${grouped(outside.messages)}`}
        {matrix.width > 1 && `; a cell: ${matrix.width} × ${matrix.width} ranks`}
      </Note>
      {matrix.unmatched > 0 && <Note>{`${plural(matrix.unmatched, "rank")} posted another number of receives than messages were sent to them`}</Note>}
      {total.messages === 0 ? <Note>No point-to-point messages. The switches add collective and one-sided operations.</Note> : <Map matrix={matrix} measure={measure} scale={scale} write={write} />}
    </>
  );
}

// Map is the picture. One pixel of an image is a cell; the image is then drawn as large as
// there is room.
function Map({ matrix, measure, scale, write }) {
  const [box, width] = useWidth();
  const dark = useDark();
  const canvas = useRef();
  const [at, setAt] = useState(null); // {i, j} of the cell that is pointed at
  const { size } = matrix;
  const cells = matrix[measure];
  const range = useMemo(() => extent(cells), [cells]);
  const image = useMemo(() => paint(cells, range, scale, dark), [cells, range, scale, dark]);
  const room = Math.max(100, Math.min(width - left - 190, mostSide, size * mostCell));
  const cell = Math.max(1, Math.floor(room / size));
  const side = Math.min(room, cell * size);
  const unit = side / size;

  useEffect(() => {
    draw(canvas.current, image, size, side, matrix, at);
  }, [image, side, at]);

  const cellAt = (e) => {
    const r = canvas.current.getBoundingClientRect();
    const j = Math.floor((e.clientX - r.left - left) / unit), i = Math.floor((e.clientY - r.top - top) / unit);
    return i >= 0 && j >= 0 && i < size && j < size ? { i, j } : null;
  };
  const onKeyDown = (e) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[e.key];
    if (!step) return;
    const p = at ?? { i: 0, j: -1 };
    const within = (v) => Math.max(0, Math.min(size - 1, v));
    setAt({ i: within(p.i + step[0]), j: within(p.j + step[1]) });
    e.preventDefault();
    e.stopPropagation();
  };
  return (
    <div class="map" ref={box}>
      <canvas
        ref={canvas} tabIndex={0} role="img" data-ready="matrix" data-side={side} data-left={left} data-top={top}
        aria-label={`${measure} from each rank (rows) to each other (columns); arrows move`}
        onMouseMove={(e) => setAt(cellAt(e))} onMouseLeave={() => setAt(null)} onKeyDown={onKeyDown}
      />
      <Scale range={range} scale={scale} write={write} dark={dark} />
      <output class="hover" aria-live="polite">{at ? cellText(matrix, at) : "rows send, columns receive; point at a cell"}</output>
    </div>
  );
}

function ranksOf(matrix, i) {
  const first = i * matrix.width, last = Math.min(matrix.ranks, first + matrix.width) - 1;
  return first === last ? `rank ${first}` : `ranks ${first}-${last}`;
}

function cellText(matrix, { i, j }) {
  const n = matrix.messages[i][j];
  const what = n || matrix.bytes[i][j] ? `${bytes(matrix.bytes[i][j])} in ${plural(n, "message")}` : "nothing";
  return `${ranksOf(matrix, i)} to ${ranksOf(matrix, j)}: ${what}`;
}

// extent finds the least number that is not 0, and the most.
function extent(cells) {
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

const nothing = (dark) => (dark ? [30, 33, 38] : [240, 240, 240]);

function paint(cells, range, scale, dark) {
  const size = cells.length;
  const data = new ImageData(size, size);
  const none = nothing(dark);
  for (let i = 0; i < size; i++) {
    for (let j = 0; j < size; j++) {
      const n = cells[i][j];
      const [r, g, b] = n > 0 ? heat(level(n, range, scale), dark) : none;
      data.data.set([r, g, b, 255], 4 * (i * size + j));
    }
  }
  const canvas = new OffscreenCanvas(size, size);
  canvas.getContext("2d").putImageData(data, 0, 0);
  return canvas;
}

function draw(canvas, image, size, side, matrix, at) {
  const scale = devicePixelRatio;
  const unit = side / size;
  canvas.width = Math.round((left + side + 8) * scale);
  canvas.height = Math.round((top + side + 8) * scale);
  canvas.style.width = `${left + side + 8}px`;
  canvas.style.height = `${top + side + 8}px`;
  const g = canvas.getContext("2d");
  g.scale(scale, scale);
  g.imageSmoothingEnabled = false;
  g.drawImage(image, left, top, side, side);
  const style = getComputedStyle(document.documentElement);
  if (unit >= 6) grid(g, size, side, unit, style.getPropertyValue("--back"));
  axes(g, matrix, size, side, unit, style.getPropertyValue("--quiet"));
  if (at) {
    g.strokeStyle = style.getPropertyValue("--ink");
    g.lineWidth = 1.5;
    g.strokeRect(left + at.j * unit, top + at.i * unit, Math.max(unit, 3), Math.max(unit, 3));
  }
}

function grid(g, size, side, unit, colour) {
  g.fillStyle = colour;
  for (let i = 1; i < size; i++) {
    g.fillRect(left + i * unit - 0.5, top, 1, side);
    g.fillRect(left, top + i * unit - 0.5, side, 1);
  }
}

function axes(g, matrix, size, side, unit, colour) {
  g.fillStyle = colour;
  g.font = "11px system-ui, sans-serif";
  g.textBaseline = "middle";
  let step = 1;
  while (step * unit < 36) step *= 2;
  for (let i = 0; i < size; i += step) {
    const at = (i + 0.5) * unit;
    const text = String(i * matrix.width);
    g.textAlign = "right";
    g.fillText(text, left - 8, top + at);
    g.textAlign = "center";
    g.fillText(text, left + at, top - 12);
    g.fillRect(left - 5, top + at, 4, 1);
    g.fillRect(left + at, top - 5, 1, 4);
  }
}

function Scale({ range, scale, write, dark }) {
  const parts = [1, 0.75, 0.5, 0.25, 0];
  const value = (p) => {
    if (range.least === range.most) return range.most;
    return scale === "linear" ? Math.round(p * range.most) : Math.round(Math.exp(Math.log(range.least) + p * (Math.log(range.most) - Math.log(range.least))));
  };
  return (
    <ul class="legend" aria-label="colours">
      {parts.map((p) => (
        <li key={p}><span class="swatch" style={{ background: css(heat(p, dark)) }} />{write(value(p))}</li>
      ))}
      <li><span class="swatch" style={{ background: css(nothing(dark)) }} />nothing</li>
    </ul>
  );
}
