// What ranks did when, where the times of each call were recorded.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { css } from "../colours.js";
import { address, useStoredParts } from "../data.js";
import { nanos, percent, plural } from "../format.js";
import { Note, Problem, TextField, useWidth } from "../parts.jsx";
import { change } from "../route.js";
import { useDark } from "../theme.js";
import { decode, looked, nothing, other, outside, ticks, unread, untimed, within } from "../timeline.js";

const left = 76, top = 24; // for ranks and times
const tallest = 56; // pixels of a row
const around = 300; // pixels of the window for what is above and below
const mostRows = 400;
const slices = 4000; // calls that are asked for one by one
const step = 2_000_000; // calls that the server looks at for an answer
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
  return (
    <>
      <div class="bar-tools">
        <h2>Timeline</h2>
        <TextField label="ranks" name="ranks" value={query.ranks} hint="all, or 0-15" />
        <button type="button" onClick={() => change({ from: "", to: "" })} disabled={!query.from && !query.to}>all of it</button>
      </div>
      <div ref={box} class="timeline">
        {failed && <Problem text={failed} />}
        {!failed && !view && <Note>loading …</Note>}
        {!failed && view && <Shown view={view} room={room} query={query} ready={asked === wanted && !answer.loading} steps={steps} />}
      </div>
    </>
  );
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

function Shown({ view, room, query, ready, steps }) {
  const dark = useDark();
  const canvas = useRef();
  const [at, setAt] = useState(null);
  const [from, to] = within(Number(query.from ?? view.begin), Number(query.to ?? view.end), view.begin, view.end);
  const image = useMemo(() => paint(view, palette(view, dark, query.only)), [view, dark, query.only]);
  const rowHeight = Math.max(1, Math.min(tallest, Math.floor(Math.max(400, innerHeight - around) / view.rows.length)));
  const side = { width: room, height: rowHeight * view.rows.length };
  const state = { view, from, to, side, rowHeight };
  const latest = useRef(state);
  latest.current = state;
  useEffect(() => draw(canvas.current, image, state), [image, from, to, room, rowHeight]);
  useEffect(() => handle(canvas.current, latest, setAt), []);
  return (
    <>
      <canvas
        ref={canvas} tabIndex={0} role="img" data-ready={ready ? "timeline" : undefined} data-left={left} data-top={top} data-row={rowHeight} data-from={from} data-to={to}
        aria-label={`what ${plural(view.rows.length, "row")} of ranks did from ${nanos(from - view.begin)} to ${nanos(to - view.begin)}; arrows move, plus and minus zoom`}
      />
      <output class="hover" aria-live="polite">{at ? pointed(state, at) : `${nanos(to - from)} of ${nanos(view.end - view.begin)}; a pixel is ${nanos(view.pixel)}`}</output>
      {!view.complete && <Steps steps={steps} />}
      <Legend view={view} dark={dark} only={query.only} />
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

function draw(canvas, image, { view, from, to, side, rowHeight }) {
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
  g.restore();
  const style = getComputedStyle(document.documentElement);
  g.fillStyle = style.getPropertyValue("--quiet");
  g.font = "11px system-ui, sans-serif";
  g.textBaseline = "middle";
  timeAxis(g, from, to, view.begin, side, per);
  rankAxis(g, view, rowHeight);
  if (rowHeight >= 6) {
    g.fillStyle = style.getPropertyValue("--back");
    for (let i = 1; i < view.rows.length; i++) g.fillRect(left, top + i * rowHeight - 0.5, side.width, 1);
  }
}

function timeAxis(g, from, to, begin, side, per) {
  g.textAlign = "center";
  for (const t of ticks(from - begin, to - begin, Math.max(2, side.width / 110))) {
    const x = left + (t + begin - from) * per;
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

function rankAxis(g, view, rowHeight) {
  g.textAlign = "right";
  let step = 1;
  while (step * rowHeight < 14) step *= 2;
  for (let i = 0; i < view.rows.length; i += step) {
    g.fillText(`rank ${view.rows[i][0]}`, left - 6, top + (i + 0.5) * rowHeight);
  }
}

// pointed says what is at a place of the picture.
function pointed({ view, from, to, side, rowHeight }, { x, y }) {
  const row = Math.floor((y - top) / rowHeight);
  const time = from + ((x - left) / side.width) * (to - from);
  const column = Math.floor((time - view.from) / view.pixel);
  if (row < 0 || row >= view.rows.length || column < 0 || column >= view.width || x < left) return "";
  const [first, last] = view.rows[row];
  const who = first === last ? `rank ${first}` : `ranks ${first}-${last}`;
  const when = tickText(time - view.begin, to - from);
  const call = first === last && callAt(view, first, time);
  if (call) {
    const [, thread, start, end, proc, site] = call;
    return `${who}${thread ? `, thread ${thread}` : ""}, ${when}: ${name(view, proc)} ${view.sites[site]}, from ${tickText(start - view.begin, to - from)}, took ${nanos(end - start)}`;
  }
  return `${who}, ${when}: ${name(view, view.pixels[row * view.width + column])}`;
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
  const partAt = (e) => Math.max(0, Math.min(1, (e.offsetX - left) / latest.current.side.width));
  let drag = null;
  on("wheel", (e) => {
    if (!e.ctrlKey && document.activeElement !== canvas) return; // else the page scrolls
    zoom(Math.exp(e.deltaY / 400), partAt(e));
    e.preventDefault();
  });
  on("pointerdown", (e) => {
    drag = { x: e.offsetX, from: latest.current.from, to: latest.current.to };
    canvas.setPointerCapture(e.pointerId);
  });
  on("pointerup", () => (drag = null));
  on("pointermove", (e) => {
    setAt({ x: e.offsetX, y: e.offsetY });
    if (!drag) return;
    const by = ((drag.x - e.offsetX) / latest.current.side.width) * (drag.to - drag.from);
    if (Math.abs(drag.x - e.offsetX) > 2) show(drag.from + by, drag.to + by);
  });
  on("pointerleave", () => setAt(null));
  on("dblclick", (e) => zoom(0.4, partAt(e)));
  on("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const act = {
      "+": () => zoom(0.5, 0.5), "=": () => zoom(0.5, 0.5), "-": () => zoom(2, 0.5), ArrowLeft: () => move(-0.2), ArrowRight: () => move(0.2),
      0: () => change({ from: "", to: "" }, true),
    }[e.key];
    if (!act) return;
    act();
    e.preventDefault();
    e.stopPropagation();
  });
  return () => stop.abort();
}

function Legend({ view, dark, only }) {
  const total = view.legend.reduce((sum, p) => sum + (p.apart ? 0 : p.time), 0);
  const none = special(dark);
  const used = new Set(view.pixels);
  return (
    <ul class="legend wide" aria-label="colours">
      {view.legend.map((p) => (
        <li key={p.op}>
          <button type="button" class="plain" aria-pressed={only === p.op} onClick={() => change({ only: only === p.op ? "" : p.op })} title={`${nanos(p.time)} of all ranks in view; click to see it alone`}>
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
