// Who sent how much to whom.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { css, heat } from "../colours.js";
import { address, useStored } from "../data.js";
import { bytes, grouped, plural } from "../format.js";
import { block, draw, extent, left, namer, nothing, paint, placesIn, rangesOf, span, top } from "../matrix.js";
import { Check, Choice, Note, TextField, useWidth, Wait } from "../parts.jsx";
import { select, selectionIn } from "../selection.js";
import { change } from "../route.js";
import { useDark } from "../theme.js";

// bins is how many rows are asked for: a cell should be some pixels large.
const bins = 256;
const mostSide = 1024;
const orders = [["rank", "rank"], ["host", "host"], ["topology", "topology"]];
// mostCell keeps the matrix of a few ranks on the screen.
const mostCell = 96;

export function Matrix({ id, query }) {
  const order = orders.some(([name]) => name === query.order) ? query.order : "rank";
  const wanted = { bins, order: order === "rank" ? undefined : order, from: query.from, to: query.to, collectives: query.collectives && "1", one_sided: query.onesided && "1" };
  const matrix = useStored(address(id, "matrix", wanted));
  const measure = query.measure === "messages" ? "messages" : "bytes";
  const scale = query.scale === "linear" ? "linear" : "log";
  return (
    <>
      <div class="bar-tools">
        <h2>Communication</h2>
        <Choice label="show" name="measure" value={measure} values={[["bytes", "bytes"], ["messages", "messages"]]} />
        <Choice label="colours" name="scale" value={scale} values={[["log", "logarithmic"], ["linear", "linear"]]} />
        <Choice label="order by" name="order" value={order} values={orders} also={{ from: "", to: "" }} />
        <Check label="collectives" name="collectives" on={Boolean(query.collectives)} />
        <Check label="one-sided" name="onesided" on={Boolean(query.onesided)} />
      </div>
      <div class="bar-tools">
        <TextField label={order === "rank" ? "from ranks" : "from places"} name="from" value={query.from} hint="all, or 64-127" />
        <TextField label={order === "rank" ? "to ranks" : "to places"} name="to" value={query.to} hint="all, or 64-127" />
        <button type="button" onClick={() => change({ from: "", to: "" })} disabled={!query.from && !query.to}>all ranks</button>
        {matrix.loading && matrix.last && <span class="note" role="status">loading …</span>}
      </div>
      <Kept on={matrix}>{(m, fresh) => <Shown matrix={m} measure={measure} scale={scale} fresh={fresh} selected={selectionIn(query).rankRanges} />}</Kept>
    </>
  );
}

// Kept shows the last answer until the next one is there, so that zooming is no flicker.
function Kept({ on, children }) {
  return on.error || !on.last ? <Wait on={on}>{(m) => children(m, true)}</Wait> : children(on.data ?? on.last, !on.loading);
}

const rangeText = ([first, last], what = "rank") => (first === last ? `${what} ${first}` : `${what}s ${first}-${last}`);

// mostNamed is how many ranges of ranks are written out.
const mostNamed = 6;

const asText = (ranges) => ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(",");

// sideText says which ranks are at places of a side.
function sideText(matrix, side, places) {
  const ranges = namer(matrix, side)(places);
  if (!ranges) return rangeText(places, "place");
  if (ranges.length === 1) return rangeText(ranges[0]);
  return `ranks ${asText(ranges.slice(0, mostNamed))}${ranges.length > mostNamed ? ",…" : ""}`;
}

const sidesText = (matrix, [from, to]) => `${sideText(matrix, "from", from)} to ${sideText(matrix, "to", to)}`;

function Shown({ matrix, measure, scale, fresh, selected }) {
  const write = measure === "bytes" ? bytes : (n) => plural(n, "message");
  const { total, outside } = matrix;
  return (
    <>
      <Note>
        {isWhole(matrix) ? "in all " : `${sidesText(matrix, [matrix.from, matrix.to])}: `}
        {`${bytes(total.bytes)} in ${plural(total.messages, "message")}`}
        {outside.messages > 0 && `; with processes that are not known: ${bytes(outside.bytes)} in ${grouped(outside.messages)}`}
        {matrix.width > 1 && `; a cell: ${matrix.width} × ${matrix.width} ranks`}
      </Note>
      {matrix.unmatched > 0 && <Note>{`${plural(matrix.unmatched, "rank")} posted a different number of receives than messages were sent to them`}</Note>}
      {total.messages === 0 && <Note>{`No messages${isWhole(matrix) ? "" : " in this block"}. The switches include collective and one-sided operations.`}</Note>}
      {(total.messages > 0 || !isWhole(matrix)) && <Map matrix={matrix} measure={measure} scale={scale} write={write} fresh={fresh} selected={selected} />}
    </>
  );
}

const isWhole = (m) => m.from[0] === 0 && m.to[0] === 0 && m.from[1] === m.ranks - 1 && m.to[1] === m.ranks - 1;

// show goes to a block.
function show(matrix, [from, to], replace = true) {
  const text = ([first, last]) => (first === 0 && last === matrix.ranks - 1 ? "" : `${first}-${last}`);
  change({ from: text(from), to: text(to) }, replace);
}

// Map is the picture. One pixel of an image is a cell; the image is then drawn as large as
// there is room.
function Map({ matrix, measure, scale, write, fresh, selected }) {
  const [box, width] = useWidth();
  const dark = useDark();
  const canvas = useRef();
  const [at, setAt] = useState(null); // {i, j} of the cell that is pointed at
  const [drag, setDrag] = useState(null); // {a, b}: first and last cell of a rectangle
  const { size } = matrix;
  const cells = matrix[measure];
  const range = useMemo(() => extent(cells), [cells]);
  const image = useMemo(() => paint(cells, range, scale, dark), [cells, range, scale, dark]);
  const room = Math.max(100, Math.min(width - left - 190, mostSide, size * mostCell));
  const unit = room >= size ? Math.max(1, Math.floor(room / size)) : room / size;
  const sides = { wide: unit * matrix.columns, high: unit * matrix.rows };

  useEffect(() => {
    draw(canvas.current, image, matrix, sides, unit, drag ?? (at && { a: at, b: at }), selected);
  }, [image, sides.wide, sides.high, at, drag, JSON.stringify(selected)]);
  useEffect(() => {
    setAt(null);
    setDrag(null);
  }, [matrix]);

  const inside = (p) => p.i >= 0 && p.j >= 0 && p.i < matrix.rows && p.j < matrix.columns;
  const placeOf = (e) => {
    const r = canvas.current.getBoundingClientRect();
    return { i: Math.floor((e.clientY - r.top - top) / unit), j: Math.floor((e.clientX - r.left - left) / unit) };
  };
  const kept = (p) => ({ i: Math.max(0, Math.min(matrix.rows - 1, p.i)), j: Math.max(0, Math.min(matrix.columns - 1, p.j)) });
  const ranksAt = (p) => [matrix.from[0] + (p.i + 0.5) * matrix.width, matrix.to[0] + (p.j + 0.5) * matrix.width];
  const zoom = (factor, p) => show(matrix, block(matrix, factor, ranksAt(p ?? at ?? { i: matrix.rows / 2 - 0.5, j: matrix.columns / 2 - 0.5 })));
  const latest = useRef();
  latest.current = (e) => {
    if (!e.ctrlKey && document.activeElement !== canvas.current) return; // else the page scrolls
    e.preventDefault();
    if (fresh) zoom(e.deltaY > 0 ? 2 : 0.5, kept(placeOf(e)));
  };
  useEffect(() => {
    const wheel = (e) => latest.current(e);
    canvas.current.addEventListener("wheel", wheel, { passive: false });
    return () => canvas.current?.removeEventListener("wheel", wheel);
  }, []);

  const selectCell = (p) => {
    const [from, to] = placesIn(matrix, { a: p, b: p });
    const ranges = [namer(matrix, "from")(from), namer(matrix, "to")(to)];
    if (ranges.every(Boolean)) select({ ranks: asText(merged(ranges.flat())) });
  };
  const onPointerDown = (e) => {
    const p = placeOf(e);
    if (e.button !== 0 || !inside(p)) return;
    canvas.current.setPointerCapture(e.pointerId);
    setDrag({ a: p, b: p });
  };
  const onPointerMove = (e) => {
    const p = placeOf(e);
    setAt(inside(p) ? p : null);
    if (drag) setDrag({ ...drag, b: kept(p) });
  };
  const onPointerUp = () => {
    if (drag && (drag.a.i !== drag.b.i || drag.a.j !== drag.b.j)) show(matrix, placesIn(matrix, drag), false);
    else if (drag) selectCell(drag.a);
    setDrag(null);
  };
  const onKeyDown = (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[e.key];
    if (step && e.shiftKey) {
      const move = ([first, last], by) => span(Math.max(0, Math.min(matrix.ranks - (last - first + 1), first + Math.round((by * (last - first + 1)) / 2))), last - first + 1);
      show(matrix, [move(matrix.from, step[0]), move(matrix.to, step[1])]);
    } else if (step) {
      const p = at ?? { i: 0, j: -1 };
      setAt(kept({ i: p.i + step[0], j: p.j + step[1] }));
    } else if (e.key === "+" || e.key === "=" || (e.key === "Enter" && at)) zoom(0.5);
    else if (e.key === "-") zoom(2);
    else if (e.key === " " && at) selectCell(at);
    else if (e.key === "0") change({ from: "", to: "" }, true);
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  return (
    <div class={fresh ? "map" : "map stale"} ref={box}>
      <canvas
        ref={canvas} tabIndex={0} role="img" data-ready={fresh ? "matrix" : undefined} data-unit={unit} data-left={left} data-top={top}
        aria-label={`${measure} from ${sideText(matrix, "from", matrix.from)} (rows) to ${sideText(matrix, "to", matrix.to)} (columns); arrows go from cell to cell, plus and minus zoom, 0 shows all`}
        onPointerDown={onPointerDown} onPointerMove={onPointerMove} onPointerUp={onPointerUp} onPointerLeave={() => !drag && setAt(null)}
        onDblClick={(e) => inside(placeOf(e)) && zoom(0.25, placeOf(e))} onKeyDown={onKeyDown}
      />
      <Scale range={range} scale={scale} write={write} dark={dark} />
      <output class="hover" aria-live="polite">{drag ? dragText(matrix, drag) : at ? cellText(matrix, at) : "rows send, columns receive; point at a cell; a click selects its ranks, a drag zooms"}</output>
    </div>
  );
}

// merged joins ranges that overlap or follow each other.
const merged = (ranges) => rangesOf(ranges.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, i) => first + i)));

const dragText = (matrix, drag) => `zoom to ${sidesText(matrix, placesIn(matrix, drag))}`;

function cellText(matrix, at) {
  const { i, j } = at;
  const n = matrix.messages[i]?.[j] ?? 0, size = matrix.bytes[i]?.[j] ?? 0;
  const what = n || size ? `${bytes(size)} in ${plural(n, "message")}` : "nothing";
  return `${sidesText(matrix, placesIn(matrix, { a: at, b: at }))}: ${what}`;
}

function Scale({ range, scale, write, dark }) {
  const parts = range.least === range.most ? [1] : [1, 0.75, 0.5, 0.25, 0];
  const value = (p) => {
    if (parts.length === 1) return range.most;
    return scale === "linear" ? Math.round(p * range.most) : Math.round(Math.exp(Math.log(range.least) + p * (Math.log(range.most) - Math.log(range.least))));
  };
  return (
    <ul class="legend" aria-label="colours">
      {range.most > 0 && parts.map((p) => (
        <li key={p}><span class="swatch" style={{ background: css(heat(p, dark)) }} />{write(value(p))}</li>
      ))}
      <li><span class="swatch" style={{ background: css(nothing(dark)) }} />nothing</li>
    </ul>
  );
}
