// Calls, bytes and time between global synchronization points.

import { address, useStored } from "../data.js";
import { byteCell, bytes, grouped, nanos, percent, plural } from "../format.js";
import { Note, Wait } from "../parts.jsx";
import { Table } from "../table.jsx";
import { regionAbout, regionCell, regionName, regionSelected, regionsOf } from "./regions.jsx";

export function Phases({ id }) {
  const phases = useStored(address(id, "phases"));
  const regions = useStored(regionsOf(id));
  return (
    <>
      <h2>Phases</h2>
      <Wait on={phases}>{(p) => <Both phases={p} />}</Wait>
      <Wait on={regions}>{(r) => <Regions report={r} />}</Wait>
    </>
  );
}

// Regions are those that the program names, if it does.
function Regions({ report }) {
  if (!report.regions?.length) return null;
  const rows = report.regions.map((r, row) => ({ ...r, row }));
  return (
    <>
      <h2>Regions</h2>
      <Note>{`${plural(rows.length - 1, "region")} that the program names; each includes those in it`}</Note>
      <Table name="regions" caption="regions" rows={rows} columns={regionColumns(rows)} place={regionAbout} select={regionSelected} />
    </>
  );
}

function regionColumns(rows) {
  const about = (r) => (r.time.about ? "~" : "");
  const list = [
    { head: "region", value: (r) => r.row, text: regionName, cell: regionCell },
    { head: "visits", right: true, value: (r) => r.visits, text: (r) => grouped(r.visits) },
    { head: "ranks", right: true, value: (r) => r.ranks, text: (r) => grouped(r.ranks) },
    { head: "calls", right: true, value: (r) => r.all.calls, text: (r) => grouped(r.all.calls) },
    { head: "sent", right: true, value: (r) => r.all.sent, text: (r) => byteCell(r.all.sent) },
  ];
  if (!rows[0].time) return list;
  const most = Math.max(1, ...rows.map((r) => perRank(r, r.all.time)));
  list.push(
    { head: "time/rank", right: true, value: (r) => perRank(r, r.all.time), text: (r) => about(r) + nanos(perRank(r, r.all.time)), bar: (r) => perRank(r, r.all.time) / most },
    { head: "own", right: true, value: (r) => perRank(r, r.own.time), text: (r) => about(r) + nanos(perRank(r, r.own.time)) },
    { head: "MPI", right: true, value: (r) => r.all.mpi / r.all.time, text: (r) => percent(r.all.mpi, r.all.time) },
  );
  if (rows[0].all.waiting !== undefined) list.push({ head: "waiting", right: true, value: (r) => r.all.waiting / r.all.time, text: (r) => percent(r.all.waiting, r.all.time) });
  list.push(
    { head: "longest", right: true, value: (r) => r.time.most_useful, text: (r) => about(r) + nanos(r.time.most_useful) },
    { head: "of rank", right: true, value: (r) => r.time.most_rank, text: (r) => String(r.time.most_rank) },
    { head: "balance", right: true, value: (r) => r.time.load_balance, text: (r) => percent(r.time.load_balance, 1) },
  );
  return list;
}

function Both({ phases }) {
  if (!phases.rows.length) return <Note>Nothing was recorded.</Note>;
  const rows = phases.rows.map((r, i) => ({ ...r, row: i + 1 }));
  const late = rows.filter((r) => r.time);
  return (
    <>
      <Note>{`${plural(phases.phases, "phase")}, of ${plural(rows.length, "kind")}; a phase ends at a global synchronization point`}</Note>
      <Table name="phases" caption="phases" rows={rows} columns={columns(phases)} place={(r) => ({ at: [r.from, r.until] })} select={untilCall} order={phases.timed ? "-time/rank" : undefined} />
      {phases.setup > 0 && <Note>{`apart: MPI_Init and MPI_Finalize, ${nanos(phases.setup / Math.max(1, phases.ranks))} per rank`}</Note>}
      {phases.timed && (
        <>
          <h2>Who is late</h2>
          <Note>how much longer the slowest rank takes than the mean to reach the end of a phase</Note>
          <Table name="late" caption="who is late" rows={late} columns={lateColumns(phases.traced)} place={(r) => ({ at: [r.from, r.until], ranks: [r.time.most_rank] })} select={(r) => ({ ...untilCall(r), ranks: String(r.time.most_rank) })} />
        </>
      )}
    </>
  );
}

// untilCall is the call that ends a phase, or else the one that begins it.
const untilCall = (r) => ({ op: (r.until ?? r.from)?.op, site: (r.until ?? r.from)?.site });

const place = (p, missing) => (p ? `${p.op} ${p.site}` : missing);
const rowColumn = { head: "row", right: true, value: (r) => r.row, text: (r) => String(r.row) };
const perRank = (r, v) => (r.ranks ? v / r.ranks : 0);

function columns(phases) {
  const about = (r) => (r.time.about ? "~" : "");
  const list = [
    rowColumn,
    { head: "phases", right: true, value: (r) => r.times, text: (r) => (r.least === r.times ? grouped(r.times) : `${grouped(r.least)}-${grouped(r.times)}`) },
    { head: "from", value: (r) => place(r.from, ""), text: (r) => place(r.from, "begin"), most: 44 },
    { head: "until", value: (r) => place(r.until, ""), text: (r) => place(r.until, "end"), most: 44 },
    { head: "calls", right: true, value: (r) => r.calls, text: (r) => grouped(r.calls) },
    { head: "sent", right: true, value: (r) => r.sent, text: (r) => byteCell(r.sent) },
  ];
  if (!phases.timed) return list;
  const most = Math.max(1, ...phases.rows.map((r) => perRank(r, r.time?.app ?? 0)));
  return [
    ...list,
    { head: "time/rank", right: true, value: (r) => perRank(r, r.time.app), text: (r) => about(r) + nanos(perRank(r, r.time.app)), bar: (r) => perRank(r, r.time.app) / most },
    { head: "MPI", right: true, value: (r) => r.time.mpi / r.time.app, text: (r) => percent(r.time.mpi, r.time.app) },
    { head: "per phase", right: true, value: (r) => perRank(r, r.time.app) / r.times, text: (r) => about(r) + nanos(perRank(r, r.time.app) / r.times) },
    { head: "sent/s", right: true, value: (r) => r.time.rate, text: (r) => (r.time.rate ? bytes(Math.round(r.time.rate)) : "-") },
  ];
}

function lateColumns(traced) {
  const list = [
    rowColumn,
    { head: "mean", right: true, value: (r) => r.time.busy, text: (r) => nanos(r.time.busy) },
    { head: "slowest", right: true, value: (r) => r.time.most_busy, text: (r) => nanos(r.time.most_busy) },
    { head: "of rank", right: true, value: (r) => r.time.most_rank, text: (r) => String(r.time.most_rank) },
    { head: "imbalance", right: true, value: (r) => r.time.imbalance, text: (r) => percent(r.time.imbalance, 1, 0) },
    { head: "in last call", right: true, value: (r) => perRank(r, r.time.meeting), text: (r) => nanos(perRank(r, r.time.meeting)) },
  ];
  if (!traced) return list;
  return [
    ...list,
    { head: "first to last", right: true, value: (r) => r.dilation?.mean, text: (r) => (r.dilation ? nanos(r.dilation.mean) : "-") },
    { head: "longest", right: true, value: (r) => r.dilation?.max, text: (r) => (r.dilation ? nanos(r.dilation.max) : "-") },
    { head: "in phase", right: true, value: (r) => r.dilation?.max_phase, text: (r) => (r.dilation ? grouped(r.dilation.max_phase + 1) : "-") },
    { head: "last rank", right: true, value: (r) => r.dilation?.max_rank, text: (r) => (r.dilation ? String(r.dilation.max_rank) : "-") },
  ];
}
