// What a run is, and where its time went.

import { address, useStored } from "../data.js";
import { bytes, grouped, moment, mpiName, nanos, percent, plural, seconds, timesText } from "../format.js";
import { Facts, Note, Search, Wait } from "../parts.jsx";
import { Table, textFilter } from "../table.jsx";
import { opColumn, ranksColumn, rowColumns, siteColumn } from "./columns.jsx";
import { Durations, Sizes } from "./histogram.jsx";
import { Why } from "./why.jsx";

// reportOf is asked for by several views: the server makes it once.
export const reportOf = (id) => address(id, "report", { by: "procedure,callsite" });

// Of a job that goes on, live, what is cut off is not missing.
export function Summary({ id, run, query, live }) {
  const report = useStored(reportOf(id));
  return (
    <>
      {!live && <Why id={id} run={run} />}
      <Who run={run} />
      {!live && <Cut run={run} />}
      <Wait on={report}>{(r) => <Report report={r} query={query} />}</Wait>
    </>
  );
}

function Who({ run }) {
  const programs = (run.programs ?? []).filter((p) => p !== run.command?.join(" "));
  return (
    <Facts
      list={[
        ["started", `${moment(run.started)}, ${seconds(run.seconds)}`],
        ["ranks", grouped(run.processes)],
        ["threads", run.threads === run.processes ? undefined : grouped(run.threads)],
        ["events", grouped(run.events)],
        ["file", `${bytes(run.bytes)}, ${run.ratio.toFixed(1)} times smaller than a list`],
        ["graph", `${plural(run.nodes, "node")}, ${plural(run.edges, "edge")}, ${plural(run.shapes, "shape")}`],
        ["times", timesText(run.time)],
        ["exit status", run.status || undefined],
        ["program", programs.slice(0, 3).join("; ")],
        ["hosts", run.hosts.length > 4 ? `${grouped(run.hosts.length)}: ${run.hosts.slice(0, 3).join(", ")} …` : run.hosts.join(", ")],
        ["MPI", run.mpi?.map(mpiName).join("; ")],
      ]}
    />
  );
}

// Cut says what is missing in a recording.
function Cut({ run }) {
  const text = [];
  if (run.missing.length) text.push(`${plural(run.missing.length, "rank")} not in the file`);
  if (run.complete < run.threads) text.push(`${grouped(run.threads - run.complete)} of ${plural(run.threads, "stream")} incomplete`);
  if (run.dropped) text.push(`${plural(run.dropped, "event")} not recorded for lack of space`);
  if (!text.length) return null;
  return (
    <>
      <p class="problem">{text.join("; ")}</p>
      {run.streams.length > 0 && run.complete < run.threads && (
        <Table
          name="cut" caption="incomplete streams" rows={run.streams}
          columns={[
            { head: "rank", right: true, value: (s) => s.rank, text: (s) => String(s.rank) },
            { head: "thread", right: true, value: (s) => s.thread, text: (s) => String(s.thread) },
            { head: "events", right: true, value: (s) => s.events, text: (s) => grouped(s.events) },
            { head: "end", value: (s) => s.end, text: (s) => s.end },
          ]}
        />
      )}
    </>
  );
}

function Report({ report, query }) {
  const total = report.total.time?.sum ?? 0;
  const { procedures = [], callsites = [] } = report; // left out if there are none
  const matches = textFilter(query.q, (r) => `${r.op} ${r.site ?? ""}`);
  if (!procedures.length) return <div data-ready="summary"><Note>No MPI calls were recorded.</Note></div>;
  return (
    <div data-ready="summary">
      <Share report={report} total={total} />
      <div class="bar-tools">
        <h2>Procedures</h2>
        <Search value={query.q} label="filter procedures and callsites" />
      </div>
      <Table
        name="procedures" caption="procedures" rows={procedures} matches={matches} order={report.timed ? "-time" : "-calls"}
        place={(r) => ({ at: [{ op: r.op }] })} select={(r) => ({ op: r.op })}
        columns={[opColumn, ...rowColumns(procedures, report.timed, total), ranksColumn]}
      />
      <h2>Callsites</h2>
      <Table
        name="callsites" caption="callsites" rows={callsites} matches={matches} order={report.timed ? "-time" : "-calls"}
        place={(r) => ({ at: [r] })} select={(r) => ({ op: r.op, site: r.site })}
        columns={[siteColumn, opColumn, ...rowColumns(callsites, report.timed, total), ranksColumn]}
      />
      {report.total.time && (
        <>
          <h2>Durations</h2>
          <Durations time={report.total.time} procedures={procedures} chosen={query.op} />
        </>
      )}
      {procedures.some((p) => p.sizes) && (
        <>
          <h2>Sizes</h2>
          <Sizes procedures={procedures} chosen={query.op} />
        </>
      )}
      <Notes report={report} />
    </div>
  );
}

// Share is one bar: the part of the ranks' time in MPI.
function Share({ report, total }) {
  if (!report.timed || !report.app) return <Note>{`${plural(report.total.calls, "call")}, ${bytes(report.total.sent)} sent; no times were recorded`}</Note>;
  const part = Math.min(1, total / report.app);
  return (
    <div class="share">
      <div class="share-bar" role="img" aria-label={`${percent(total, report.app)} of the time in MPI`}>
        <span style={{ width: `${100 * part}%` }} />
      </div>
      <p>
        <b data-figure="share">{percent(total, report.app)}</b> of the time in MPI: <b>{nanos(total)}</b> of {nanos(report.app)}, all ranks
        together{report.setup && !report.with_setup && <>, without <b data-figure="setup">{nanos(report.setup.sum)}</b> in MPI_Init and MPI_Finalize</>}; <b>{grouped(report.total.calls)}</b> calls, <b>{bytes(report.total.sent)}</b> sent
        {report.in_progress && (
          <>
            ; besides <b data-figure="in-progress">{nanos(report.in_progress.time)}</b> in {plural(report.in_progress.calls, "call")} that had not returned
          </>
        )}
      </p>
    </div>
  );
}

function Notes({ report }) {
  const note = (n, text) => n > 0 && <Note>{`${text}: ${grouped(n)}`}</Note>;
  return (
    <>
      {note(report.total.errors, "calls that returned an error; they move nothing")}
      {note(report.total.unknown, "calls of unknown size; they count as 0")}
      {note(report.untimed, "calls without times")}
    </>
  );
}
