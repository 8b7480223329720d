// What ranks did when, where the times of each call were recorded.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { css } from "../colours.js";
import { address, onlyRun, useStored, useStoredParts } from "../data.js";
import { grouped, nanos, percent, plural, rankText } from "../format.js";
import { Check, Choice, Note, Problem, TextField, useWidth } from "../parts.jsx";
import { change } from "../route.js";
import { select, selectionIn } from "../selection.js";
import { useDark } from "../theme.js";
import { draw, left, paint, palette, special, top } from "../timeline-draw.js";
import { callAt, collectiveAt, flowsText, follow, messageAt, pointed, read } from "../timeline-place.js";
import { lanesIn, regionPath, roomForBands, visitAt } from "../timeline-regions.js";
import { arranged, decode, looked, membersOf, nothing, other, outside, stretch, unread, within } from "../timeline.js";
import { Regions, Strip, useVisits } from "./timeline-regions.jsx";
import { isTraced, waitsOf } from "./why.jsx";

const tallest = 200; // pixels of a row
const around = 300; // pixels of the window for what is above and below
const mostRows = 400;
const slices = 4000; // calls that are asked for one by one
const step = 2_000_000; // calls that the server looks at for an answer
const mostFollowed = 4_000_000; // calls of a run whose messages and waits the server finds
const mostFlows = 2000; // messages, waits, and collective calls that are asked for
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
  const order = useOrder(id, run, query);
  const ranks = query.ranks ?? order.chosen;
  const trim = !query.from && !query.to;
  const clock = clockOf(run, query);
  const wanted = width && !order.loading ? address(id, "timeline", { from: query.from, to: query.to, trim, width: Math.min(2000, room), ranks, rows, by: query.order === "class" ? "class" : undefined, slices, events: step, clock: clock === "raw" ? clock : undefined }) : undefined;
  const asked = useLater(wanted);
  const answer = useStoredParts(asked, decode, (v) => v.complete);
  const view = useMemo(() => answer.last && arranged(answer.last, order.ranks), [answer.last, order.ranks]);
  const failed = answer.error?.message;
  const steps = useSteps(asked, answer);
  const follows = !query.plain && clock === "corrected" && run.events <= mostFollowed && answer.data?.complete;
  const flows = useStored(follows ? address(id, "flows", { ...spanOf(asked), ranks, most: mostFlows }) : undefined).last;
  const visits = useVisits(id, !query.plain && answer.data, lowRow(answer.data, query) ?? { ranks, rows, by: query.order === "class" ? "class" : undefined }, clock === "raw" ? clock : undefined);
  const path = useStored(follows && isTraced(run) ? waitsOf(id) : undefined).data?.path;
  return (
    <>
      <div class="bar-tools">
        <h2>Timeline</h2>
        <TextField label="ranks" name="ranks" value={query.ranks} hint="all, or 0-15" />
        <Choice label="rows by" name="order" value={query.order ?? "rank"} values={orders(run)} />
        {run.hosts.length > 1 && <Choice label="times by" name="clock" value={clock} values={[["corrected", "corrected clocks"], ["raw", "the hosts' clocks"]]} />}
        <Part view={view} query={query} />
        <Check label="calls only" name="plain" on={query.plain === "1"} />
      </div>
      {clock === "raw" && !query.clock && <Note>{`Times are by the hosts' own clocks: to correct these, all ${grouped(run.events)} calls are read first.`}</Note>}
      <div ref={box} class="timeline">
        {failed && <Problem text={failed} />}
        {!failed && !view && <Note>loading …</Note>}
        {!failed && view && <Shown view={view} hosts={order.hosts} room={room} query={query} ready={asked === wanted && !answer.loading} steps={steps} flows={follows ? flows : undefined} path={follows ? path : undefined} visits={query.plain ? undefined : visits} />}
      </div>
    </>
  );
}

// rowHeightOf is the height of a view's rows, pixels.
const rowHeightOf = (view) => Math.max(1, Math.min(tallest, Math.floor(Math.max(400, innerHeight - around) / view.rows.length)));

// lowRow asks for the regions of the one rank whose are shown if rows are too low for bands: one that is
// selected, or the first. A page without a server has those of all.
function lowRow(view, query) {
  if (!view || onlyRun || roomForBands(rowHeightOf(view))) return undefined;
  const shown = selectionIn(query).rankRanges?.find(([rank]) => view.rows.some(([first, last]) => first <= rank && rank <= last));
  return { ranks: String(shown?.[0] ?? view.rows[0][0]) };
}

// orders are the orders of rows that a run has.
const orders = (run) => [["rank", "rank"], ...(run.processes > 1 ? [["class", "class"]] : []), ...(isTraced(run) ? [["waiting", "waiting"]] : []), ...(run.hosts.length > 1 ? [["host", "host"]] : [])];

// clockOf is whose clocks times are by. To correct the clocks of several hosts all calls are read, which
// is left to the user if there are very many.
const clockOf = (run, query) => query.clock ?? (run.hosts.length > 1 && run.events > mostFollowed ? "raw" : "corrected");

// useOrder gives the ranks in the order of their rows, and, if those are not all, the ranks to ask for:
// those that wait longest, or the first hosts'.
function useOrder(id, run, query) {
  const waits = useStored(query.order === "waiting" ? waitsOf(id) : undefined);
  const clocks = useStored(query.order === "host" ? address(id, "clocks") : undefined);
  return useMemo(() => {
    const of = query.order === "waiting" ? waits : query.order === "host" ? clocks : {};
    if (!of.data) return { loading: of.loading };
    const ranks = of === waits
      ? waits.data.by_rank.toSorted((a, b) => b.waiting - a.waiting || a.rank - b.rank).map((r) => r.rank)
      : clocks.data.machines.flatMap((m) => m.ranks);
    const few = run.processes > mostRows && ranks.slice(0, mostRows);
    return {
      ranks, chosen: few ? rankText(few.toSorted((a, b) => a - b)) : undefined,
      hosts: of === clocks ? new Map(clocks.data.machines.flatMap((m) => m.ranks.map((rank) => [rank, m.host]))) : undefined,
    };
  }, [query.order, waits.data, waits.loading, clocks.data, clocks.loading, run.processes]);
}

// Part chooses the part of the time: without an address's from and to it is that between MPI_Init and
// MPI_Finalize.
function Part({ view, query }) {
  const part = query.from || query.to;
  const whole = view && Number(query.from) === view.begin && Number(query.to) === view.end;
  return (
    <>
      <button type="button" onClick={() => change({ from: view.begin, to: view.end })} disabled={!view || whole}>all of it</button>
      <button type="button" onClick={() => change({ from: "", to: "" })} disabled={!part}>without MPI_Init and MPI_Finalize</button>
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

function Shown({ view, hosts, room, query, ready, steps, flows, path, visits }) {
  const dark = useDark();
  const canvas = useRef();
  const [at, setAt] = useState(null);
  const [inStrip, setInStrip] = useState();
  const [from, to] = stretch(query.from, query.to, view);
  const selection = selectionIn(query);
  const only = query.only ?? (view.legend.some((p) => p.op === selection.op) ? selection.op : undefined);
  const image = useMemo(() => paint(view, palette(view, dark, only)), [view, dark, only]);
  const rowHeight = rowHeightOf(view);
  const side = { width: room, height: rowHeight * view.rows.length };
  const [chosen, setChosen] = useState([]); // places, { rank, time }: the last one is chosen, the others were
  const state = { view, hosts, from, to, side, rowHeight, flows: useMemo(() => read(flows), [flows]), chosen, setChosen, selection, path, visits, lanes: lanesIn(visits, rowHeight) };
  const latest = useRef(state);
  latest.current = state;
  useEffect(() => draw(canvas.current, image, state), [image, from, to, room, rowHeight, flows, path, visits, chosen, hosts, JSON.stringify(selection)]);
  useEffect(() => handle(canvas.current, latest, setAt), []);
  return (
    <>
      {visits && !state.lanes && <Strip state={state} setText={setInStrip} />}
      <canvas
        ref={canvas} tabIndex={0} role="img" data-ready={ready ? "timeline" : undefined} data-left={left} data-top={top} data-row={rowHeight} data-from={from} data-to={to}
        data-flows={flows ? `${flows.messages.length} ${flows.waits.length}` : undefined} data-path={path?.segments.length} data-lanes={state.lanes && `${state.lanes.count} ${state.lanes.height}`} data-chosen={chosen.length ? `${chosen.at(-1).rank} ${chosen.at(-1).time}` : undefined}
        aria-label={`what ${plural(view.rows.length, "row")} of ranks did from ${nanos(from)} to ${nanos(to)} after the run began; arrows move, plus and minus zoom, Enter goes to what is waited for`}
      />
      <output class="hover" aria-live="polite">{inStrip ?? (at ? pointed(state, at) : `${nanos(to - from)} of ${nanos(view.end - view.begin)}; a pixel is ${nanos(view.pixel)}${flowsText(state.flows)}${path ? "; the line is the critical path" : ""}`)}</output>
      {!view.complete && <Steps steps={steps} />}
      <Legend view={view} dark={dark} only={only} picked={query.only} />
      {visits && <Regions visits={visits} />}
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

// handle acts on mouse and keys; what it returns ends that.
function handle(canvas, latest, setAt) {
  const stop = new AbortController();
  const on = (event, f) => canvas.addEventListener(event, f, { signal: stop.signal });
  const show = (from, to) => {
    const { view } = latest.current;
    const [a, b] = within(from, to, view.begin, view.end);
    change({ from: a, to: b }, true);
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
    const visit = visitAt(latest.current, { x: e.offsetX, y: e.offsetY });
    if (visit) return select({ region: regionPath(visit.region) });
    const y = Math.floor((e.offsetY - top) / rowHeight);
    const row = view.rows[y];
    const single = row && row[0] === row[1];
    setChosen(single && e.offsetX >= left ? [{ rank: row[0], time: timeAt(e) }] : []);
    if (!row) return;
    const call = single && e.offsetX >= left && callAt(view, row[0], timeAt(e));
    const on = call && (collectiveAt(latest.current, row[0], timeAt(e)) ?? messageAt(latest.current, row[0], call));
    select({ ranks: membersOf(view, y), ...(call ? { op: view.legend[call[4] - 1]?.op, site: view.sites[call[5]], comm: on ? on.comm : null } : {}) });
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
