// A row for each rank. The server selects and orders; the page has only the rows that can
// be seen, and those next to them.

import { useMemo } from "preact/hooks";
import { address, usePages } from "../data.js";
import { grouped, nanos, percent } from "../format.js";
import { Note, Search, Wait } from "../parts.jsx";
import { go } from "../route.js";
import { asQuery } from "../selection.js";
import { Table } from "../table.jsx";
import { timeOf, volumeColumns } from "./columns.jsx";

const pageRows = 200;

// orders are the server's names of columns that have others here.
const orders = { "%app": "share", "per call": "per_call" };

export function Ranks({ id, query }) {
  const set = rankSet(query.q);
  return (
    <>
      <div class="bar-tools">
        <h2>Ranks</h2>
        <Search value={query.q} label="ranks, as 0-15,32" />
      </div>
      {set === undefined ? <Note>No ranks match: search for numbers and ranges, as in 0-15,32.</Note> : <Rows id={id} set={set} sort={query["sort-ranks"] ?? "rank"} />}
    </>
  );
}

function Rows({ id, set, sort }) {
  const head = sort.replace(/^-/, "");
  const order = (head === sort ? "" : "-") + (orders[head] ?? head);
  const list = usePages((from) => address(id, "ranks", { rank: set, order, from, count: pageRows }), pageRows);
  return <Wait on={{ data: list.head, error: list.head ? undefined : list.error }}>{(head) => <Shown id={id} list={list} head={head} />}</Wait>;
}

function Shown({ id, list, head }) {
  const columns = useMemo(() => columnsOf(head), [head.timed, Object.keys(head.columns).join()]);
  const widest = useMemo(() => [widestRow(head)], [head]);
  const remote = {
    length: head.matching, total: head.processes, want: list.want,
    at: (i) => {
      const page = list.page(Math.floor(i / pageRows));
      return page && i - page.from < page.ranks.length ? rowAt(page, i - page.from) : undefined;
    },
  };
  return (
    <Table
      name="ranks" caption="ranks" order="rank" rows={widest} remote={remote} columns={columns} rowTitle={() => "show the graph of this rank"}
      open={(row) => go(["runs", id, "graph"], { rank: row.rank || undefined, ...asQuery({ ranks: String(row.rank) }) })} place={(row) => ({ ranks: [row.rank] })}
    />
  );
}

function rowAt(page, i) {
  const row = Object.fromEntries(Object.entries(page.columns).map(([name, values]) => [name, values[i]]));
  return { ...row, rank: page.ranks[i], time: { sum: row.time ?? 0 } };
}

// widestRow has the largest number of each column.
function widestRow(head) {
  const row = Object.fromEntries(Object.entries(head.spread).map(([name, s]) => [name, s.most]));
  return { ...row, rank: head.processes, time: { sum: row.time ?? 0 } };
}

function columnsOf(head) {
  const there = Object.fromEntries(Object.keys(head.columns).map((name) => [name, 1]));
  return [
    { head: "rank", right: true, value: (k) => k.rank, text: (k) => String(k.rank) },
    there.pid && { head: "pid", right: true, value: (k) => k.pid, text: (k) => String(k.pid) },
    { head: "threads", right: true, value: (k) => k.threads, text: (k) => String(k.threads ?? 0) },
    { head: "calls", right: true, value: (k) => k.calls, text: (k) => grouped(k.calls ?? 0) },
    ...(head.timed ? timeColumns : []),
    ...volumeColumns([there]),
  ].filter(Boolean);
}

const timeColumns = [
  { head: "app", right: true, value: (k) => k.app, text: (k) => nanos(k.app ?? 0) },
  { head: "time", right: true, value: timeOf, text: (k) => nanos(timeOf(k)) },
  { head: "setup", title: "MPI_Init and MPI_Finalize, not in the other times", right: true, value: (k) => k.setup, text: (k) => nanos(k.setup ?? 0) },
  { head: "%app", title: "part of the time that is in MPI", right: true, value: (k) => (k.app ? timeOf(k) / k.app : 0), text: (k) => percent(timeOf(k), k.app), bar: (k) => (k.app ? timeOf(k) / k.app : 0) },
];

// rankSet reads ranks as in 0-15,32 or 100-, for the server; "" are all, undefined what makes
// no sense.
function rankSet(text) {
  const parts = (text ?? "").split(",").map((p) => p.trim()).filter(Boolean);
  const ranges = parts.map((p) => p.match(/^(\d{1,9})(?:-(\d{0,9}))?$/)).map((m) => m && [Number(m[1]), m[2] === undefined ? Number(m[1]) : m[2] === "" ? 2 ** 31 - 1 : Number(m[2])]);
  if (ranges.some((r) => !r)) return undefined;
  const sorted = ranges.filter(([a, b]) => a <= b).toSorted((x, y) => x[0] - y[0]);
  const joined = [];
  for (const [a, b] of sorted) {
    const last = joined.at(-1);
    if (last && a <= last[1]) last[1] = Math.max(last[1], b);
    else joined.push([a, b]);
  }
  return joined.map(([a, b]) => `${a}-${b}`).join(",");
}
