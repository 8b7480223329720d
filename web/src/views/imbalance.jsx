// Which callsites take some ranks longer than others, and which ranks.

import { useMemo } from "preact/hooks";
import { address, useStored } from "../data.js";
import { grouped, nanos, percent } from "../format.js";
import { Note, Search, Wait } from "../parts.jsx";
import { Plot } from "../plot.jsx";
import { Table, textFilter } from "../table.jsx";
import { opColumn, ranksColumn, siteColumn, timeOf } from "./columns.jsx";
import { reportOf } from "./summary.jsx";

export function Imbalance({ id, query }) {
  const report = useStored(reportOf(id));
  const ranks = useStored(address(id, "report", { by: "rank" }));
  return (
    <>
      <Wait on={report}>{(r) => (r.timed ? <Callsites report={r} query={query} /> : <Note>No times were recorded, so nothing is known of imbalance. The diff tab compares calls and bytes of ranks.</Note>)}</Wait>
      <h2>Ranks</h2>
      <Wait on={ranks}>{(r) => <PerRank report={r} />}</Wait>
    </>
  );
}

// waiting has calls that are left out: ranks do not begin and end together.
const waiting = new Set(["MPI_Init", "MPI_Init_thread", "MPI_Finalize"]);

function Callsites({ report, query }) {
  const rows = useMemo(() => report.callsites.filter((r) => r.ranks > 0 && !waiting.has(r.op)).map(withMean), [report]);
  const cost = Math.max(1, ...rows.map((r) => r.cost));
  return (
    <>
      <div class="bar-tools">
        <h2>Callsites</h2>
        <Search value={query.q} label="filter callsites" />
      </div>
      <Table
        name="imbalance" caption="imbalance of callsites" rows={rows} order="-cost" matches={textFilter(query.q, (r) => `${r.op} ${r.site}`)}
        columns={[
          siteColumn, opColumn, ranksColumn,
          { head: "least to most", title: "time of the fastest rank, the mean, and the slowest one, which is at the right", cell: (r) => <Spread row={r} />, width: () => 24 },
          { head: "mean/rank", right: true, value: (r) => r.mean, text: (r) => nanos(r.mean) },
          { head: "max/rank", right: true, value: (r) => r.most, text: (r) => nanos(r.most) },
          { head: "of rank", right: true, value: (r) => r.most_rank, text: (r) => String(r.most_rank) },
          { head: "imbalance", title: "(max - mean) / mean", right: true, value: (r) => r.imbalance, text: (r) => `${(100 * r.imbalance).toFixed(0)}%` },
          { head: "cost", title: "max - mean", right: true, value: (r) => r.cost, text: (r) => nanos(r.cost), bar: (r) => r.cost / cost },
        ]}
      />
      {report.waits?.length > 0 && (
        <>
          <h2>Longest single calls</h2>
          <Table
            name="waits" caption="longest single calls" rows={report.waits}
            columns={[
              { head: "rank", right: true, value: (w) => w.rank, text: (w) => String(w.rank) },
              { head: "longest", right: true, value: (w) => w.time, text: (w) => nanos(w.time) },
              siteColumn, opColumn,
              { head: "calls", right: true, value: (w) => w.calls, text: (w) => grouped(w.calls) },
            ]}
          />
        </>
      )}
    </>
  );
}

function withMean(r) {
  const mean = timeOf(r) / r.ranks;
  return { ...r, mean, cost: r.most - mean, imbalance: mean > 0 ? (r.most - mean) / mean : 0 };
}

// Spread shows the least, the mean and the most as a bar with a mark.
function Spread({ row }) {
  const at = (v) => `${row.most ? (100 * v) / row.most : 0}%`;
  return (
    <span class="spread" title={`${nanos(row.least)} to ${nanos(row.most)}, mean ${nanos(row.mean)}`}>
      <span class="reach" style={{ left: at(row.least), width: at(row.most - row.least) }} data-site={row.site} />
      <span class="mark" style={{ left: at(row.mean) }} />
    </span>
  );
}

function PerRank({ report }) {
  const data = useMemo(() => {
    const rows = report.ranks;
    return {
      x: rows.map((r) => r.rank),
      time: report.timed && [
        { label: "in MPI", colour: "#d55e00", values: rows.map(timeOf) },
        { label: "in all", colour: "#0072b2", values: rows.map((r) => r.app ?? 0) },
      ],
      calls: [{ label: "calls", colour: "#0072b2", values: rows.map((r) => r.calls) }],
    };
  }, [report]);
  const points = data.x.length <= 64;
  if (!report.timed) return <Plot label="calls of each rank" x={data.x} xLabel="rank" series={data.calls} text={grouped} points={points} />;
  return (
    <>
      <Plot label="time of each rank" x={data.x} xLabel="rank" series={data.time} text={nanos} points={points} />
      <Note>{spreadText(report.ranks)}</Note>
    </>
  );
}

function spreadText(rows) {
  let least = rows[0], most = rows[0], sum = 0;
  for (const r of rows) {
    if (timeOf(r) < timeOf(least)) least = r;
    if (timeOf(r) > timeOf(most)) most = r;
    sum += timeOf(r);
  }
  const mean = sum / rows.length;
  return `time in MPI: ${nanos(timeOf(least))} on rank ${least.rank} to ${nanos(timeOf(most))} on rank ${most.rank}; mean ${nanos(mean)}, imbalance ${percent(timeOf(most) - mean, mean, 0)}`;
}
