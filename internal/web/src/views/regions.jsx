// How well the regions that the program names use the processors.

import { address, useStored } from "../data.js";
import { nanos, percent } from "../format.js";
import { Note, Wait } from "../parts.jsx";
import { Table } from "../table.jsx";

// regionsOf is asked for by several views.
export const regionsOf = (id) => address(id, "report", { by: "region" });

export const regionName = (r) => (r.region.length ? r.region.join("/") : "outside of regions");

// regionCell is the name of a region, below the one around it.
export const regionCell = (r) => (
  <span class="indent" title={regionName(r)} style={{ paddingLeft: `${Math.max(0, r.region.length - 1) * 1.2}em` }}>{r.region.at(-1) ?? regionName(r)}</span>
);

// regionAbout says what a row about a region is about, regionSelected what a click on it selects.
export const regionAbout = (r) => (r.region.length ? { region: r.region.join("/") } : {});
export const regionSelected = (r) => ({ region: r.region.join("/") || undefined });

// RegionParts asks for regions where there are some.
export function RegionParts({ id }) {
  const report = useStored(regionsOf(id));
  const parts = useStored(report.data?.regions?.length ? address(id, "efficiency", { regions: true }) : undefined);
  if (!report.data?.regions?.length) return null;
  return <Wait on={parts}>{(e) => <Parts rows={e.runs[0].regions} />}</Wait>;
}

function Parts({ rows: list }) {
  const rows = list.map((r, row) => ({ ...r, row }));
  const most = Math.max(1, ...rows.map((r) => r.time));
  const share = (head, of) => ({ head, right: true, value: of, text: (r) => percent(of(r), 1) });
  const columns = [
    { head: "region", value: (r) => r.row, text: regionName, cell: regionCell },
    { head: "time", right: true, value: (r) => r.time, text: (r) => nanos(r.time), bar: (r) => r.time / most },
    share("parallel", (r) => r.parallel), share("load balance", (r) => r.load_balance), share("communication", (r) => r.communication),
    { head: "longest", title: "longest computation of a rank", right: true, value: (r) => r.most, text: (r) => nanos(r.most) },
    { head: "of rank", right: true, value: (r) => r.most_rank, text: (r) => String(r.most_rank) },
  ];
  return (
    <div data-ready="region-parts">
      <h2>By region</h2>
      <Note>regions that the program names; each includes those in it</Note>
      <Table name="region-parts" caption="efficiency by region" rows={rows} columns={columns} place={regionAbout} select={regionSelected} />
    </div>
  );
}
