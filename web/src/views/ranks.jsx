// A row for each rank.

import { address, useStored } from "../data.js";
import { grouped, nanos, percent } from "../format.js";
import { Search, Wait } from "../parts.jsx";
import { go } from "../route.js";
import { Table } from "../table.jsx";
import { timeOf, volumeColumns } from "./columns.jsx";

export function Ranks({ id, query }) {
  const report = useStored(address(id, "report", { by: "rank" }));
  return (
    <>
      <div class="bar-tools">
        <h2>Ranks</h2>
        <Search value={query.q} label="ranks, as 0-15,32" />
      </div>
      <Wait on={report}>
        {(r) => (
          <Table
            name="ranks" caption="ranks" rows={r.ranks} matches={rankFilter(query.q)} rowTitle={() => "show the graph of this rank"}
            open={(row) => go(["runs", id, "graph"], { rank: row.rank || undefined })}
            columns={[
              { head: "rank", right: true, value: (k) => k.rank, text: (k) => String(k.rank) },
              { head: "pid", right: true, value: (k) => k.pid, text: (k) => String(k.pid) },
              { head: "threads", right: true, value: (k) => k.threads, text: (k) => String(k.threads) },
              { head: "calls", right: true, value: (k) => k.calls, text: (k) => grouped(k.calls) },
              ...(r.timed ? timeColumns : []),
              ...volumeColumns(r.ranks),
            ]}
          />
        )}
      </Wait>
    </>
  );
}

const timeColumns = [
  { head: "app", right: true, value: (k) => k.app, text: (k) => nanos(k.app ?? 0) },
  { head: "time", right: true, value: timeOf, text: (k) => nanos(timeOf(k)) },
  { head: "%app", right: true, value: (k) => (k.app ? timeOf(k) / k.app : 0), text: (k) => percent(timeOf(k), k.app), bar: (k) => (k.app ? timeOf(k) / k.app : 0) },
];

// rankFilter reads ranks as in 0-15,32; what it cannot read matches nothing.
function rankFilter(text) {
  const parts = (text ?? "").split(",").map((p) => p.trim()).filter(Boolean);
  if (!parts.length) return undefined;
  const ranges = parts.map((p) => p.match(/^(\d+)(?:-(\d*))?$/)).map((m) => m && [Number(m[1]), m[2] === undefined ? Number(m[1]) : m[2] === "" ? Infinity : Number(m[2])]);
  return (row) => ranges.some((r) => r && row.rank >= r[0] && row.rank <= r[1]);
}
