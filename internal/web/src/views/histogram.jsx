// How many calls took how long.

import { grouped, nanos } from "../format.js";
import { change } from "../route.js";

const firstBin = 3; // bin i is of durations from 2^(i+3) ns

export function Histogram({ time, procedures, chosen }) {
  const of = procedures.find((p) => p.op === chosen && p.time)?.time ?? time;
  const low = of.bins.findIndex((n) => n > 0);
  const bins = of.bins.slice(low);
  const most = Math.max(...bins);
  return (
    <>
      <label class="field">
        of{" "}
        <select value={chosen ?? ""} onChange={(e) => change({ op: e.currentTarget.value })}>
          <option value="">all procedures</option>
          {procedures.filter((p) => p.time).map((p) => (
            <option key={p.op} value={p.op}>{p.op}</option>
          ))}
        </select>
      </label>
      <div class="histogram" role="region" tabIndex={0} aria-label="calls by duration">
        {bins.map((n, i) => (
          <div key={i} title={`${grouped(n)} calls of ${range(low + i)}`} data-calls={n}>
            <span class="count">{n ? short(n) : ""}</span>
            <span class="column" style={{ height: `${n ? Math.max(1, (100 * Math.log1p(n)) / Math.log1p(most)) : 0}px` }} />
            <span class="at">{nanos(2 ** (low + i + firstBin)).replace(".00", "")}</span>
          </div>
        ))}
      </div>
      <p class="note">a column: calls of at least this duration and less than the next; heights are logarithmic</p>
    </>
  );
}

const range = (i) => (i === 0 ? `less than ${nanos(2 ** (firstBin + 1))}` : `${nanos(2 ** (i + firstBin))} to ${nanos(2 ** (i + firstBin + 1))}`);

function short(n) {
  if (n < 10000) return String(n);
  if (n < 1e6) return `${Math.round(n / 1000)}k`;
  return `${(n / 1e6).toPrecision(3)}M`;
}
