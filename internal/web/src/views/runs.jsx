// All runs, those that go on first.

import { address, useCurrent, useEvents } from "../data.js";
import { byteCell, command, grouped, moment, nanos, plural } from "../format.js";
import { Note, Search, Wait } from "../parts.jsx";
import { go } from "../route.js";
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
        <span class={open ? "dot on" : "dot"} title={open ? "new runs appear automatically" : "not connected"} role="status" aria-label={open ? "live" : "not connected"} />
      </div>
      <Wait on={list}>{(data) => <List data={data} text={query.q} />}</Wait>
    </>
  );
}

function List({ data, text }) {
  const rows = [...data.jobs.map(jobRow), ...data.runs.map(runRow).reverse()];
  return (
    <>
      {data.problems.map((p) => (
        <p key={p} class="problem">{p}</p>
      ))}
      {rows.length === 0 ? (
        <Note>Nothing has been recorded yet.</Note>
      ) : (
        <Table name="runs" rows={rows} columns={columns} caption="runs" matches={textFilter(text, (r) => r.words)} open={(r) => go(["runs", r.name])} />
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
    ranks: r.ranks, events: r.events, bytes: r.bytes, state, kind: r.deadlock ? "bad" : r.complete ? "good" : "cut",
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

const columns = [
  { head: "run", value: (r) => r.name, text: (r) => r.name, cell: (r) => <a href={`#/runs/${encodeURIComponent(r.name)}`}>{r.name}</a>, most: 44 },
  { head: "started", value: (r) => Date.parse(r.started), text: (r) => moment(r.started) },
  { head: "time", right: true, value: (r) => r.length, text: (r) => nanos(r.length) },
  { head: "ranks", right: true, value: (r) => r.ranks, text: (r) => grouped(r.ranks) },
  { head: "events", right: true, value: (r) => r.events, text: (r) => (r.events === undefined ? "-" : grouped(r.events)) },
  { head: "size", right: true, value: (r) => r.bytes, text: (r) => (r.bytes === undefined ? "-" : byteCell(r.bytes)) },
  { head: "state", value: (r) => r.state, text: (r) => r.state, cell: (r) => <span class={`state ${r.kind}`}>{r.state}</span> },
  { head: "command", value: (r) => command(r.command), text: (r) => command(r.command), most: 50 },
];
