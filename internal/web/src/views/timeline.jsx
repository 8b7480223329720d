// What ranks did when, where the times of each call were recorded.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { css } from "../colours.js";
import { address, useStored, useStoredParts } from "../data.js";
import { nanos, percent, plural } from "../format.js";
import { Check, Note, Problem, TextField, useWidth } from "../parts.jsx";
import { change } from "../route.js";
import { select, selectionIn } from "../selection.js";
import { useDark } from "../theme.js";
import { isTraced, waitsOf } from "./why.jsx";
import { decode, looked, nothing, other, outside, stretch, ticks, unread, untimed, within } from "../timeline.js";

const left = 76, top = 24; // for ranks and times
const tallest = 56; // pixels of a row
const around = 300; // pixels of the window for what is above and below
const mostRows = 400;
const slices = 4000; // calls that are asked for one by one
const step = 2_000_000; // calls that the server looks at for an answer
const mostFollowed = 4_000_000; // calls of a run whose messages and waits the server finds
const mostFlows = 2000; // messages, and waits, that are asked for
const mostArrows = 400; // messages that are drawn: more hide each other
const mostSteps = 20; // answers in a row with which it may have come no further

export function Timeline({ id, run, query }) {
  if (!run.time.startsWith("trace")) {
    return (
      <>
        <h2>Timeline</h2>
        <Note>{`A timeline needs the time of each call; this run was recorded with --time ${run.time}. Record with`} <code>efg run --time trace</code>.</Note>
      </>
    );
  }
  return <Traced id={id} run={run} query={query} />;
}

function Traced({ id, run, query }) {
  const [box, width] = useWidth();
  const room = Math.max(100, width - left - 4);
  const rows = Math.min(mostRows, run.processes);
  const wanted = width ? address(id, "timeline", { from: query.from, to: query.to, width: Math.min(2000, room), ranks: query.ranks, rows, slices, events: step }) : undefined;
  const asked = useLater(wanted);
  const answer = useStoredParts(asked, decode, (v) => v.complete);
  const view = answer.last;
  const failed = answer.error?.message;
  const steps = useSteps(asked, answer);
  const follows = !query.plain && run.events <= mostFollowed && answer.data?.complete;
  const flows = useStored(follows ? address(id, "flows", { ...spanOf(asked), ranks: query.ranks, most: mostFlows }) : undefined).last;
  const path = useStored(follows && isTraced(run) ? waitsOf(id) : undefined).data?.path;
  return (
    <>
      <div class="bar-tools">
        <h2>Timeline</h2>
        <TextField label="ranks" name="ranks" value={query.ranks} hint="all, or 0-15" />
        <button type="button" onClick={() => change({ from: "", to: "" })} disabled={!query.from && !query.to}>all of it</button>
        <Check label="calls only" name="plain" on={query.plain === "1"} />
      </div>
      <div ref={box} class="timeline">
        {failed && <Problem text={failed} />}
        {!failed && !view && <Note>loading …</Note>}
        {!failed && view && <Shown view={view} room={room} query={query} ready={asked === wanted && !answer.loading} steps={steps} flows={follows ? flows : undefined} path={follows ? path : undefined} />}
      </div>
    </>
  );
}

// spanOf is the part of the time that an address of a timeline asks for.
function spanOf(url) {
  const query = new URLSearchParams(url.split("?")[1]);
  return { from: query.get("from") ?? undefined, to: query.get("to") ?? undefined };
}

// useLater follows an address once it has rested for a moment, so that zooming does not
// ask for each step.
function useLater(url) {
  const [now, set] = useState(url);
  useEffect(() => {
    if (now === url) return;
    const t = setTimeout(() => set(url), now ? 80 : 0);
    return () => clearTimeout(t);
  }, [url]);
  return now;
}

// useSteps asks again as long as an answer is not complete and gets further: the server goes on
// where it ended. It can be stopped, and ends with the page.
function useSteps(url, answer) {
  const [stopped, setStopped] = useState(false);
  const far = useRef({});
  const view = answer.data;
  const part = useMemo(() => (view ? looked(view) : 0), [view]);
  useEffect(() => setStopped(false), [url]);
  useEffect(() => {
    if (!view || view.complete) return;
    if (far.current.url !== url || part > far.current.part) far.current = { url, part, stuck: 0 };
    else if (far.current.view !== view) far.current.stuck++;
    far.current.view = view;
    if (far.current.stuck >= mostSteps) setStopped(true);
    else if (!stopped) answer.reload();
  }, [view, stopped]);
  const goOn = () => {
    far.current = {};
    setStopped(false);
  };
  return { part, running: Boolean(view) && !view.complete && !stopped, stop: () => setStopped(true), goOn };
}

// special are the colours of what is no procedure.
const special = (dark) => (dark
  ? { [outside]: [62, 68, 77], [other]: [150, 150, 150], [unread]: [100, 90, 60], [nothing]: [22, 25, 29] }
  : { [outside]: [222, 226, 231], [other]: [110, 110, 110], [unread]: [250, 240, 200], [nothing]: [255, 255, 255] });

// parts reads a colour as CSS writes it: [red, green, blue].
const parts = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));

function palette(view, dark, only) {
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

function paint(view, colours) {
  const height = view.rows.length;
  const data = new ImageData(view.width, height);
  const pixels = new Uint32Array(data.data.buffer);
  const words = colours.map(([r, g, b]) => (255 << 24) | (b << 16) | (g << 8) | r);
  for (let i = 0; i < pixels.length; i++) pixels[i] = words[view.pixels[i]];
  const canvas = new OffscreenCanvas(view.width, height);
  canvas.getContext("2d").putImageData(data, 0, 0);
  return canvas;
}

function Shown({ view, room, query, ready, steps, flows, path }) {
  const dark = useDark();
  const canvas = useRef();
  const [at, setAt] = useState(null);
  const [from, to] = stretch(query.from, query.to, view.begin, view.end);
  const selection = selectionIn(query);
  const only = query.only ?? (view.legend.some((p) => p.op === selection.op) ? selection.op : undefined);
  const image = useMemo(() => paint(view, palette(view, dark, only)), [view, dark, only]);
  const rowHeight = Math.max(1, Math.min(tallest, Math.floor(Math.max(400, innerHeight - around) / view.rows.length)));
  const side = { width: room, height: rowHeight * view.rows.length };
  const [chosen, setChosen] = useState([]); // places, { rank, time }: the last one is chosen, the others were
  const state = { view, from, to, side, rowHeight, flows: useMemo(() => read(flows), [flows]), chosen, setChosen, selection, path };
  const latest = useRef(state);
  latest.current = state;
  useEffect(() => draw(canvas.current, image, state), [image, from, to, room, rowHeight, flows, path, chosen, JSON.stringify(selection)]);
  useEffect(() => handle(canvas.current, latest, setAt), []);
  return (
    <>
      <canvas
        ref={canvas} tabIndex={0} role="img" data-ready={ready ? "timeline" : undefined} data-left={left} data-top={top} data-row={rowHeight} data-from={from} data-to={to}
        data-flows={flows ? `${flows.messages.length} ${flows.waits.length}` : undefined} data-path={path?.segments.length} data-chosen={chosen.length ? `${chosen.at(-1).rank} ${chosen.at(-1).time}` : undefined}
        aria-label={`what ${plural(view.rows.length, "row")} of ranks did from ${nanos(from)} to ${nanos(to)} after the run began; arrows move, plus and minus zoom, Enter goes to what is waited for`}
      />
      <output class="hover" aria-live="polite">{at ? pointed(state, at) : `${nanos(to - from)} of ${nanos(view.end - view.begin)}; a pixel is ${nanos(view.pixel)}${flowsText(state.flows)}${path ? "; the line is the critical path" : ""}`}</output>
      {!view.complete && <Steps steps={steps} />}
      <Legend view={view} dark={dark} only={only} picked={query.only} />
    </>
  );
}

// Steps says how far the server has come with a run of very many calls.
function Steps({ steps }) {
  return (
    <p class="note" role="status" data-figure="looked">
      <progress value={steps.part} /> {`${percent(steps.part, 1, 0)} looked at`}{" "}
      {steps.running ? <button type="button" onClick={steps.stop}>stop</button> : <button type="button" onClick={steps.goOn}>go on</button>}{" "}
      {!steps.running && "The rest of it has very many calls: to zoom in, or to ask for fewer ranks, is quicker."}
    </p>
  );
}

// read makes objects of the server's answer.
function read(flows) {
  if (!flows) return undefined;
  const place = (i) => (i < 0 ? "" : `${flows.places[i].op} ${flows.places[i].site}`);
  return {
    messages: flows.messages.map(([from, , fromPlace, sent, to, , toPlace, received, size]) => ({ from, fromPlace: place(fromPlace), sent, to, toPlace: place(toPlace), received, size })),
    waits: flows.waits.map(([rank, , at, begin, end, state, by, , byPlace]) => ({ rank, place: place(at), begin, end, state: flows.states[state].name, by, byPlace: place(byPlace) })),
    messageCount: flows.message_count, waitCount: flows.wait_count,
  };
}

function flowsText(flows) {
  if (!flows) return "";
  return `; ${plural(flows.messageCount, "message")}${flows.messageCount > mostArrows ? " (drawn if there are 400 or fewer)" : ""}, ${plural(flows.waitCount, "wait")}, hatched`;
}

// rowsOf are the numbers of the rows that show one rank, by rank.
const rowsOf = (view) => new Map(view.rows.map(([first, last], i) => [first === last ? first : -1, i]));

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

// drawPath draws the critical path as a line from row to row.
function drawPath(g, style, { view, from, to, rowHeight, path }, x) {
  const row = (rank) => view.rows.findIndex(([first, last]) => first <= rank && rank <= last);
  g.beginPath();
  let on = false;
  for (const [rank, begin, end] of path.segments) {
    const at = end < from || begin > to ? -1 : row(rank);
    if (at >= 0) {
      const y = top + (at + 0.5) * rowHeight;
      if (on) g.lineTo(x(begin), y);
      else g.moveTo(x(begin), y);
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
      if (row === undefined || view.sites[site] !== selection.site) continue;
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

function draw(canvas, image, state) {
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
  g.restore();
  g.fillStyle = style.getPropertyValue("--quiet");
  g.font = "11px system-ui, sans-serif";
  g.textBaseline = "middle";
  timeAxis(g, from, to, side, per);
  rankAxis(g, style, state);
  if (rowHeight >= 6) {
    g.fillStyle = style.getPropertyValue("--back");
    for (let i = 1; i < view.rows.length; i++) g.fillRect(left, top + i * rowHeight - 0.5, side.width, 1);
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
function tickText(t, length) {
  const units = [[1, "ns"], [1e3, "µs"], [1e6, "ms"], [1e9, "s"]];
  const [size, unit] = units.findLast(([s]) => t >= s) ?? units[0];
  const digits = Math.max(0, Math.min(9, Math.ceil(Math.log10(size / (length / 20)))));
  return `${(t / size).toFixed(digits)} ${unit}`;
}

function rankAxis(g, style, { view, rowHeight, selection }) {
  g.textAlign = "right";
  let step = 1;
  while (step * rowHeight < 14) step *= 2;
  for (let i = 0; i < view.rows.length; i += step) {
    g.fillText(`rank ${view.rows[i][0]}`, left - 8, top + (i + 0.5) * rowHeight);
  }
  if (!selection.rankRanges) return;
  g.fillStyle = style.getPropertyValue("--accent");
  view.rows.forEach(([first, last], i) => {
    if (selection.rankRanges.some(([a, b]) => a <= last && first <= b)) g.fillRect(left - 5, top + i * rowHeight, 4, rowHeight);
  });
}

// pointed says what is at a place of the picture.
function pointed(state, { x, y }) {
  const { view, from, to, side, rowHeight } = state;
  const row = Math.floor((y - top) / rowHeight);
  const time = from + ((x - left) / side.width) * (to - from);
  const column = Math.floor((time - view.from) / view.pixel);
  if (row < 0 || row >= view.rows.length || column < 0 || column >= view.width || x < left) return "";
  const [first, last] = view.rows[row];
  const who = first === last ? `rank ${first}` : `ranks ${first}-${last}`;
  const when = tickText(time, to - from);
  const call = first === last && callAt(view, first, time);
  if (call) {
    const [, thread, start, end, proc, site] = call;
    return `${who}${thread ? `, thread ${thread}` : ""}, ${when}: ${name(view, proc)} ${view.sites[site]}, from ${tickText(start, to - from)}, took ${nanos(end - start)}${waitText(waitAt(state, first, time))}`;
  }
  return `${who}, ${when}: ${name(view, view.pixels[row * view.width + column])}${first === last ? waitText(waitAt(state, first, time)) : ""}`;
}

// waitAt is the wait of a rank at a time, to within a pixel.
function waitAt({ flows, from, to, side }, rank, time) {
  const pixel = (to - from) / side.width;
  return flows?.waits.find((w) => w.rank === rank && w.begin <= time + pixel && time - pixel <= w.end);
}

function waitText(w) {
  if (!w) return "";
  return `; ${w.state}: waits ${nanos(w.end - w.begin)}${w.by < 0 ? "" : ` for rank ${w.by} in ${w.byPlace}`}`;
}

// follow returns where the wait at a place, or the message that is received there, comes from.
function follow(state, { rank, time }) {
  const w = waitAt(state, rank, time);
  if (w && w.by >= 0) return { rank: w.by, time: w.end };
  const pixel = (state.to - state.from) / state.side.width;
  const m = state.flows?.messages.findLast((m) => m.to === rank && m.sent <= time + pixel && time - pixel <= m.received);
  return m && { rank: m.from, time: m.sent };
}

function callAt(view, rank, time) {
  return view.slices?.find(([r, , start, end]) => r === rank && start <= time && time <= end);
}

function name(view, pixel) {
  switch (pixel) {
    case outside: return "outside MPI";
    case other: case untimed: return "another procedure";
    case unread: return "not looked at";
    case nothing: return "nothing recorded";
  }
  return view.legend[pixel - 1]?.op ?? "another procedure";
}

// handle acts on mouse and keys; what it returns ends that.
function handle(canvas, latest, setAt) {
  const stop = new AbortController();
  const on = (event, f) => canvas.addEventListener(event, f, { signal: stop.signal });
  const show = (from, to) => {
    const { view } = latest.current;
    const [a, b] = within(from, to, view.begin, view.end);
    change(a <= view.begin && b >= view.end ? { from: "", to: "" } : { from: a, to: b }, true);
  };
  const zoom = (factor, part) => {
    const { from, to } = latest.current;
    const at = from + part * (to - from);
    show(at - (at - from) * factor, at + (to - at) * factor);
  };
  const move = (part) => {
    const { from, to } = latest.current;
    show(from + part * (to - from), to + part * (to - from));
  };
  const timeAt = (e) => Math.round(latest.current.from + partAt(e) * (latest.current.to - latest.current.from));
  const partAt = (e) => Math.max(0, Math.min(1, (e.offsetX - left) / latest.current.side.width));
  let drag = null, dragged = false;
  on("wheel", (e) => {
    if (!e.ctrlKey && document.activeElement !== canvas) return; // else the page scrolls
    zoom(Math.exp(e.deltaY / 400), partAt(e));
    e.preventDefault();
  });
  on("pointerdown", (e) => {
    drag = { x: e.offsetX, at: timeAt(e), marks: e.shiftKey, from: latest.current.from, to: latest.current.to };
    canvas.setPointerCapture(e.pointerId);
  });
  on("pointerup", () => {
    dragged = drag?.moved;
    drag = null;
  });
  on("pointermove", (e) => {
    setAt({ x: e.offsetX, y: e.offsetY });
    if (!drag) return;
    drag.moved ||= Math.abs(drag.x - e.offsetX) > 2;
    if (drag.marks && drag.moved) return select({ time: [drag.at, timeAt(e)].toSorted((a, b) => a - b).join("-") });
    const by = ((drag.x - e.offsetX) / latest.current.side.width) * (drag.to - drag.from);
    if (drag.moved) show(drag.from + by, drag.to + by);
  });
  on("pointerleave", () => setAt(null));
  on("dblclick", (e) => zoom(0.4, partAt(e)));
  on("click", (e) => {
    if (dragged) return;
    const { view, rowHeight, setChosen } = latest.current;
    const row = view.rows[Math.floor((e.offsetY - top) / rowHeight)];
    const single = row && row[0] === row[1];
    setChosen(single && e.offsetX >= left ? [{ rank: row[0], time: timeAt(e) }] : []);
    if (!row) return;
    const call = single && e.offsetX >= left && callAt(view, row[0], timeAt(e));
    select({ ranks: single ? String(row[0]) : `${row[0]}-${row[1]}`, ...(call ? { op: view.legend[call[4] - 1]?.op, site: view.sites[call[5]] } : {}) });
  });
  // go shows a place, in the middle if it was not in view.
  const go = (list) => {
    const { from, to, setChosen } = latest.current;
    setChosen(list);
    const time = list.at(-1)?.time;
    if (time < from || time > to) show(time - (to - from) / 2, time + (to - from) / 2);
  };
  const forward = () => {
    const { chosen } = latest.current;
    const next = chosen.length && follow(latest.current, chosen.at(-1));
    if (next) go([...chosen, next]);
  };
  const back = () => {
    const { chosen } = latest.current;
    if (chosen.length > 1) go(chosen.slice(0, -1));
  };
  on("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const act = {
      "+": () => zoom(0.5, 0.5), "=": () => zoom(0.5, 0.5), "-": () => zoom(2, 0.5), ArrowLeft: () => move(-0.2), ArrowRight: () => move(0.2),
      w: () => zoom(0.5, 0.5), s: () => zoom(2, 0.5), a: () => move(-0.2), d: () => move(0.2),
      0: () => change({ from: "", to: "" }, true), Enter: forward, Backspace: back,
    }[e.key];
    if (!act) return;
    act();
    e.preventDefault();
    e.stopPropagation();
  });
  return () => stop.abort();
}

function Legend({ view, dark, only, picked }) {
  const total = view.legend.reduce((sum, p) => sum + (p.apart ? 0 : p.time), 0);
  const none = special(dark);
  const used = new Set(view.pixels);
  return (
    <ul class="legend wide" aria-label="colours">
      {view.legend.map((p) => (
        <li key={p.op}>
          <button type="button" class="plain" aria-pressed={only === p.op} onClick={() => change(only === p.op ? { only: "", ...(picked ? {} : { "s.op": "" }) } : { only: p.op })} title={`${nanos(p.time)} of all ranks in view; click to see it alone`}>
            <span class="swatch" style={{ background: p.colour }} />{p.op} <span class="quiet">{p.apart ? "apart" : percent(p.time, total)}</span>
          </button>
        </li>
      ))}
      {[[outside, "outside MPI"], [other, "others"], [unread, "not looked at"], [nothing, "nothing recorded"]].filter(([v]) => used.has(v)).map(([v, text]) => (
        <li key={v}><span class="swatch" style={{ background: css(none[v]) }} />{text}</li>
      ))}
    </ul>
  );
}
