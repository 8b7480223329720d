// All runs, those that go on first.

import { useMemo } from "preact/hooks";
import { address, onlyRun, useCurrent, useEvents } from "../data.js";
import { byteCell, command, grouped, moment, nanos, percent, plural } from "../format.js";
import { Note, Search, Wait } from "../parts.jsx";
import { change, go, link } from "../route.js";
import { Table, textFilter } from "../table.jsx";

const most = 10000; // runs that are asked for

export function Runs({ query }) {
  const list = useCurrent(address(null, "", { limit: most }));
  const open = useEvents("v1/events", ["runs"], list.reload);
  return (
    <>
      <div class="bar-tools">
        <h1>Runs</h1>
        <Search value={query.q} label="search runs" />
        {!onlyRun && <a href={link(["fleet"])} title="which programs and users lose most, what became slower, what scales">compare all</a>}
        <span class={open ? "dot on" : "dot"} title={open ? "new runs appear automatically" : "not connected"} role="status" aria-label={open ? "live" : "not connected"} />
      </div>
      <Wait on={list}>{(data) => <List data={data} text={query.q} picked={(query.pick ?? "").split(",").filter(Boolean)} />}</Wait>
    </>
  );
}

function List({ data, text, picked }) {
  const rows = useMemo(() => withEarlier([...data.jobs.map(jobRow), ...data.runs.map(runRow).reverse()]), [data]);
  const columns = useMemo(() => [facts[0], pickColumn(picked), ...facts.slice(1)], [picked.join()]);
  return (
    <>
      {data.problems.map((p) => (
        <p key={p} class="problem">{p}</p>
      ))}
      {rows.length === 0 ? (
        <Note>Nothing has been recorded yet.</Note>
      ) : (
        <>
        <Picked names={picked} />
        <Table name="runs" rows={rows} columns={columns} caption="runs" matches={textFilter(text, (r) => r.words)} open={(r) => go(["runs", r.name])} />
        </>
      )}
      {data.total > data.runs.length && <Note>{`the newest ${grouped(data.runs.length)} of ${grouped(data.total)} runs`}</Note>}
    </>
  );
}

const jobRow = (j) => ({
  name: j.name, command: j.command, started: j.started, length: Math.max(0, (Date.now() - Date.parse(j.started)) * 1e6), ranks: j.processes,
  state: j.running ? `running, ${grouped(j.running)} of ${grouped(j.processes)} processes` : "ended, not stored yet",
  kind: j.running ? "running" : "ended", words: `${j.name} ${j.command.join(" ")} running`,
});

const runRow = (r) => {
  const state = stateOf(r);
  return {
    name: r.name, command: r.command, started: r.started, length: Math.max(0, (Date.parse(r.ended) - Date.parse(r.started)) * 1e6),
    stored: true, ranks: r.ranks, events: r.events, bytes: r.bytes, state, kind: r.deadlock ? "bad" : r.complete ? "good" : "cut",
    words: `${r.name} ${(r.command ?? []).join(" ")} ${r.mpi ?? ""} ${r.host ?? ""} ${state}`,
  };
};

// stateOf says how a run ended.
function stateOf(r) {
  const text = [];
  if (r.deadlock) text.push("deadlock");
  if (r.complete) text.push("complete");
  else if (r.ranks < r.size) text.push(`${grouped(r.ranks)} of ${grouped(r.size)} ranks`);
  else text.push("incomplete");
  if (r.leftOut?.length) text.push(`${plural(r.leftOut.length, "segment")} left out`);
  return text.join(", ");
}

// withEarlier gives runs the earlier runs of the same command on as many ranks, the newest last.
function withEarlier(rows) {
  const like = new Map();
  for (const r of rows.filter((r) => r.stored).toSorted((a, b) => Date.parse(a.started) - Date.parse(b.started))) {
    const key = JSON.stringify([r.command, r.ranks]);
    const earlier = like.get(key) ?? [];
    r.earlier = earlier.slice(-mostEarlier);
    like.set(key, [...r.earlier, { name: r.name, length: r.length }]);
  }
  return rows;
}

const mostEarlier = 15; // runs that a run is compared with in the table

// longer is by which part of the time of the run before it a run takes longer.
function longer(r) {
  const before = r.earlier?.at(-1)?.length;
  return before ? r.length / before - 1 : undefined;
}

const changeText = (r) => {
  const by = longer(r);
  return by === undefined ? "" : `${by < 0 ? "−" : "+"}${percent(Math.abs(by), 1, 0)}`;
};

// Earlier draws the times of the earlier runs and of this one as columns, and leads to what differs
// from the one before.
function Earlier({ run }) {
  const before = run.earlier?.at(-1);
  if (!before) return null;
  const all = [...run.earlier, run];
  const most = Math.max(1, ...all.map((r) => r.length));
  return (
    <a href={link(["runs", run.name, "diff"], { with: before.name })} title={`times of the last ${all.length} runs of this command on as many ranks: ${all.map((r) => nanos(r.length)).join(", ")}; compare with ${before.name}`} onClick={(e) => e.stopPropagation()}>
      <svg class="spark" viewBox={`0 0 ${4 * (mostEarlier + 1)} 14`} aria-hidden="true">
        {all.map((r, i) => (
          <rect key={r.name} x={4 * (mostEarlier + 1 - all.length + i)} width="3" y={14 - 13 * (r.length / most)} height={13 * (r.length / most)} class={r === run ? "this" : undefined} />
        ))}
      </svg>
      {` ${changeText(run)}`}
    </a>
  );
}

// pickColumn has a box for each run that can be compared.
function pickColumn(picked) {
  const toggle = (name) => change({ pick: (picked.includes(name) ? picked.filter((n) => n !== name) : [...picked, name].slice(-2)).join(",") }, true);
  return {
    head: "±", title: "choose two runs to compare", text: () => "",
    cell: (r) => r.stored && (
      <input type="checkbox" checked={picked.includes(r.name)} aria-label={`compare ${r.name}`} onClick={(e) => e.stopPropagation()} onChange={() => toggle(r.name)} />
    ),
  };
}

// Picked leads to comparisons of two runs.
function Picked({ names: [a, b] }) {
  if (!a) return null;
  if (!b) return <p class="note" data-figure="picked">{`${a} is chosen: choose another run to compare it with`}</p>;
  return (
    <p data-figure="picked">
      {`${a} compared with ${b}: `}
      <a href={link(["runs", a, "diff"], { with: b })}>differences</a>, <a href={link(["runs", a, "flame"], { with: b })}>flame graph</a>
    </p>
  );
}

const facts = [
  { head: "run", value: (r) => r.name, text: (r) => r.name, cell: (r) => <a href={`#/runs/${encodeURIComponent(r.name)}`}>{r.name}</a>, most: 44 },
  { head: "started", value: (r) => Date.parse(r.started), text: (r) => moment(r.started) },
  { head: "time", right: true, value: (r) => r.length, text: (r) => nanos(r.length) },
  { head: "before", title: "earlier runs of the same command on as many ranks, and by how much this one takes longer than the last of them", value: (r) => longer(r) ?? -2, text: changeText, width: (r) => (r.earlier?.length ? 15 : 0), cell: (r) => <Earlier run={r} /> },
  { head: "ranks", right: true, value: (r) => r.ranks, text: (r) => grouped(r.ranks) },
  { head: "events", right: true, value: (r) => r.events, text: (r) => (r.events === undefined ? "-" : grouped(r.events)) },
  { head: "size", right: true, value: (r) => r.bytes, text: (r) => (r.bytes === undefined ? "-" : byteCell(r.bytes)) },
  { head: "state", value: (r) => r.state, text: (r) => r.state, cell: (r) => <span class={`state ${r.kind}`}>{r.state}</span> },
  { head: "command", value: (r) => command(r.command), text: (r) => command(r.command), most: 50 },
];
