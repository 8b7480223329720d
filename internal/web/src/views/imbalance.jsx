// Which callsites take some ranks longer than others, and which ranks.

import { useMemo } from "preact/hooks";
import { address, useStored } from "../data.js";
import { bytes, grouped, nanos, percent } from "../format.js";
import { Note, Search, Wait } from "../parts.jsx";
import { Plot } from "../plot.jsx";
import { Table, textFilter } from "../table.jsx";
import { opColumn, ranksColumn, siteColumn, timeOf } from "./columns.jsx";
import { reportOf } from "./summary.jsx";

// points is how many points a curve over ranks has at most.
const points = 600;

export function Imbalance({ id, query }) {
  const report = useStored(reportOf(id));
  const ranks = useStored(address(id, "ranks", { count: 0, bins: points }));
  return (
    <>
      <Wait on={report}>{(r) => (r.timed ? <Callsites report={r} query={query} /> : <Note>No times were recorded, so the imbalance is unknown. The diff tab compares calls and bytes of ranks.</Note>)}</Wait>
      <h2>Ranks</h2>
      <Wait on={ranks}>{(r) => <PerRank ranks={r} />}</Wait>
    </>
  );
}

function Callsites({ report, query }) {
  const rows = useMemo(() => (report.callsites ?? []).filter((r) => r.ranks > 0 && !r.apart).map(withMean), [report]);
  const cost = Math.max(1, ...rows.map((r) => r.cost));
  return (
    <>
      <div class="bar-tools">
        <h2>Callsites</h2>
        <Search value={query.q} label="filter callsites" />
      </div>
      <Table
        name="imbalance" caption="imbalance of callsites" rows={rows} order="-cost" matches={textFilter(query.q, (r) => `${r.op} ${r.site}`)}
        place={(r) => ({ at: [r] })} select={(r) => ({ op: r.op, site: r.site, ranks: String(r.most_rank) })}
        columns={[
          siteColumn, opColumn, ranksColumn,
          { head: "least to most", title: "time of the fastest rank, the mean, and the slowest one, which is at the right", cell: (r) => <Spread row={r} />, width: () => 24 },
          { head: "mean/rank", right: true, value: (r) => r.mean, text: (r) => nanos(r.mean) },
          { head: "max/rank", right: true, value: (r) => r.most, text: (r) => nanos(r.most) },
          { head: "of rank", right: true, value: (r) => r.most_rank, text: (r) => String(r.most_rank) },
          { head: "imbalance", title: "(max - mean) / mean", right: true, value: (r) => r.imbalance, text: (r) => percent(r.imbalance, 1, 0) },
          { head: "cost", title: "max - mean", right: true, value: (r) => r.cost, text: (r) => nanos(r.cost), bar: (r) => r.cost / cost },
        ]}
      />
      {report.waits?.length > 0 && (
        <>
          <h2>Longest single calls</h2>
          <Table
            name="waits" caption="longest single calls" rows={report.waits} place={(r) => ({ at: [r], ranks: [r.rank] })} select={(r) => ({ op: r.op, site: r.site, ranks: String(r.rank) })}
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

// PerRank draws each rank, or, of many, the least, mean and most of ranks that follow each
// other.
function PerRank({ ranks }) {
  const measure = ranks.timed ? "time" : "calls";
  const data = useMemo(() => series(ranks, measure), [ranks]);
  const b = ranks.bins;
  if (!b) return <Note>Nothing was recorded.</Note>;
  const write = ranks.timed ? nanos : grouped;
  const name = ranks.timed ? "time in MPI" : "calls";
  return (
    <>
      <Plot label={`${name} of each rank`} x={data.x} xLabel={b.width > 1 ? `rank; a point: ${grouped(b.width)} ranks` : "rank"} yLabel={ranks.timed ? "time" : "calls"} series={data.list} text={write} points={data.x.length <= 64} />
      <Note>{spreadText(ranks.spread[measure], name, write)}</Note>
      <Quantiles spread={ranks.spread} timed={ranks.timed} />
    </>
  );
}

function series(ranks, measure) {
  if (!ranks.bins) return {};
  const { first, width, columns } = ranks.bins;
  const of = columns[measure];
  const list = width > 1
    ? [{ label: "most", colour: "#d55e00", values: of.most }, { label: "mean", colour: "#0072b2", values: of.mean }, { label: "least", colour: "#009e73", values: of.least }]
    : [{ label: ranks.timed ? "in MPI" : "calls", colour: "#d55e00", values: of.mean }];
  if (ranks.timed && width === 1) list.push({ label: "in all", colour: "#0072b2", ring: true, values: columns.app.mean });
  return { x: first, list };
}

function spreadText(s, name, write) {
  return `${name}: ${write(s.least)} on rank ${s.least_rank} to ${write(s.most)} on rank ${s.most_rank}; mean ${write(s.mean)}, imbalance ${percent(s.most - s.mean, s.mean, 0)}`;
}

const measures = [["time in MPI", "time", nanos], ["time in all", "app", nanos], ["MPI_Init, MPI_Finalize", "setup", nanos], ["calls", "calls", grouped], ["sent", "sent", bytes], ["received", "received", bytes], ["read", "read", bytes], ["written", "written", bytes]];

// Quantiles is a table of how what ranks do is distributed.
function Quantiles({ spread, timed }) {
  const rows = measures.filter(([, key]) => spread[key] && (timed || !["time", "app", "setup"].includes(key))).map(([what, key, write]) => ({ what, write, ...spread[key] }));
  const quantile = (head, i) => ({ head, title: `what ${head} of the ranks do not exceed`, right: true, text: (r) => r.write(r.quantiles[i]) });
  return (
    <Table
      name="spread" caption="distribution over ranks" rows={rows}
      columns={[
        { head: "of a rank", text: (r) => r.what },
        { head: "least", right: true, text: (r) => r.write(r.least) },
        { head: "least rank", right: true, text: (r) => String(r.least_rank) },
        quantile("5%", 0), quantile("25%", 1), quantile("50%", 2), quantile("75%", 3), quantile("95%", 4),
        { head: "most", right: true, text: (r) => r.write(r.most) },
        { head: "most rank", right: true, text: (r) => String(r.most_rank) },
        { head: "mean", right: true, text: (r) => r.write(Math.round(r.mean)) },
      ]}
    />
  );
}
