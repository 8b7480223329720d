// The source around a callsite, with what the calls there cost.

import { useEffect, useRef } from "preact/hooks";
import { address, useCurrent, useStored } from "../data.js";
import { grouped, nanos, percent } from "../format.js";
import { Note, Wait } from "../parts.jsx";
import { select, selectionIn, withoutPath } from "../selection.js";
import { Table } from "../table.jsx";
import { opColumn, rowColumns, siteColumn } from "./columns.jsx";
import { reportOf } from "./summary.jsx";
import { isTraced, useFollowing, waitsOf } from "./why.jsx";

export function Source({ id, run, query }) {
  const { site } = selectionIn(query);
  const report = useStored(reportOf(id));
  const [follow] = useFollowing(id, run);
  const waits = useStored(isTraced(run) && follow ? waitsOf(id) : undefined);
  const source = useCurrent(site ? address(id, "source", { at: withoutPath(site) }) : undefined);
  return (
    <>
      <h2>Source</h2>
      {!site && <Note>Choose a callsite: here, or in any other view.</Note>}
      {site && <Wait on={source}>{(s) => <Lines source={s} costs={costsBy(report.data, waits.data)} app={report.data?.total.time?.sum} />}</Wait>}
      <Wait on={report}>{(r) => <Sites report={r} site={site} />}</Wait>
    </>
  );
}

function Sites({ report, site }) {
  const rows = report.callsites ?? [];
  return (
    <>
      <h2>Callsites</h2>
      <Table
        name="source-callsites" caption="callsites" rows={rows} order={report.timed ? "-time" : "-calls"}
        open={(r) => select({ site: r.site, op: r.op })} selected={(r) => r.site === site}
        columns={[siteColumn, opColumn, ...rowColumns(rows, report.timed, report.total.time?.sum ?? 0)]}
      />
    </>
  );
}

// lineOf is where a callsite is: "file.c:42".
export const lineOf = (site) => withoutPath(site)?.match(/(\S+:\d+)$/)?.[1];

// costsBy adds up what calls at a line take, wait, and make others wait.
function costsBy(report, waits) {
  const by = new Map();
  const at = (site) => {
    const line = lineOf(site);
    if (!line) return {};
    if (!by.has(line)) by.set(line, { calls: 0, time: 0, waiting: 0, caused: 0, sites: [] });
    return by.get(line);
  };
  for (const r of report?.callsites ?? []) {
    const c = at(r.site);
    c.calls += r.calls;
    c.time += r.time?.sum ?? 0;
    c.sites?.push(r);
  }
  for (const r of waits?.rows ?? []) at(r.at.site).waiting += r.time;
  for (const r of waits?.causes ?? []) if (r.at) at(r.at.site).caused += r.time;
  return by;
}

function Lines({ source, costs, app }) {
  const box = useRef();
  useEffect(() => {
    const call = box.current.querySelector("[data-call]");
    if (call) box.current.scrollTop = call.offsetTop - box.current.clientHeight / 2;
  }, [source]);
  const base = source.path.replace(/^.*\//, "");
  return (
    <>
      <p class="command" title={source.path}>{`${source.path}:${source.line}`}</p>
      {source.newer && <p class="problem">The file was changed after the program was built: lines may have moved.</p>}
      <div class="source" ref={box} tabIndex={0} role="region" aria-label={`source of ${source.at}`} data-ready="source">
        <table>
          <thead>
            <tr><th scope="col" class="right">calls</th><th scope="col" class="right">time</th><th scope="col" class="right" title="waiting in calls of this line">waits</th><th scope="col" class="right" title="waiting of others that is caused before or in calls of this line">causes</th><th scope="col" class="right">line</th><th scope="col">source</th></tr>
          </thead>
          <tbody>
            {source.lines.map((text, i) => {
              const line = source.first + i;
              const c = costs.get(`${base}:${line}`);
              const here = line === source.line;
              return (
                <tr key={line} data-call={here ? "" : undefined} class={here ? "here" : c ? "calls" : undefined}>
                  <td class="right">{c?.calls ? grouped(c.calls) : ""}</td>
                  <td class="right" title={c?.time && app ? `${percent(c.time, app)} of the time in MPI` : undefined}>{c?.time ? nanos(c.time) : ""}</td>
                  <td class="right">{c?.waiting ? nanos(c.waiting) : ""}</td>
                  <td class="right">{c?.caused ? nanos(c.caused) : ""}</td>
                  <th scope="row" class="right">{line}</th>
                  <td class="code">{text}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </>
  );
}
