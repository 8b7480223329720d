// How many calls took how long, and how many moved how many bytes.

import { bytes, grouped, nanos } from "../format.js";
import { change } from "../route.js";

const firstBin = 3; // bin i of durations is of those from 2^(i+3) ns

export function Durations({ time, procedures, chosen }) {
  const timed = procedures.filter((p) => p.time);
  const of = timed.find((p) => p.op === chosen)?.time ?? time;
  const range = (i) => (i === 0 ? `less than ${nanos(2 ** (firstBin + 1))}` : `${nanos(2 ** (i + firstBin))} to ${nanos(2 ** (i + firstBin + 1))}`);
  return (
    <>
      <Choice of={timed} chosen={chosen} />
      <Columns label="calls by duration" bins={of.bins} at={(i) => nanos(2 ** (i + firstBin))} what={(n, i) => `${grouped(n)} calls of ${range(i)}`} />
      <p class="note">a column: calls of at least this duration and less than the next; heights are logarithmic</p>
    </>
  );
}

export function Sizes({ procedures, chosen }) {
  const moving = procedures.filter((p) => p.sizes);
  const shown = moving.some((p) => p.op === chosen) ? moving.filter((p) => p.op === chosen) : moving;
  const bins = Array(Math.max(...shown.map((p) => p.sizes.length))).fill(0);
  for (const p of shown) p.sizes.forEach((n, i) => (bins[i] += n));
  const at = (i) => (i === 0 ? "empty" : bytes(2 ** (i - 1)));
  const range = (i) => (i < 2 ? at(i) : `${at(i)} to ${bytes(2 ** i - 1)}`);
  return (
    <>
      <Choice of={moving} chosen={chosen} />
      <Columns label="messages and calls by size" bins={bins} at={at} what={(n, i) => `${grouped(n)} messages or calls of ${range(i)}`} />
      <p class="note">a column: messages and calls that send, receive, read or write at least so many bytes and fewer than the next; heights are logarithmic</p>
    </>
  );
}

// Choice selects a procedure, or all of them.
function Choice({ of, chosen }) {
  return (
    <label class="field">
      of{" "}
      <select value={of.some((p) => p.op === chosen) ? chosen : ""} onChange={(e) => change({ op: e.currentTarget.value })}>
        <option value="">all procedures</option>
        {of.map((p) => (
          <option key={p.op} value={p.op}>{p.op}</option>
        ))}
      </select>
    </label>
  );
}

// Columns draws the bins from the first that counts something; at says where a bin begins.
function Columns({ label, bins, at, what }) {
  const low = bins.findIndex((n) => n > 0);
  const shown = bins.slice(low);
  const most = Math.max(...shown);
  return (
    <div class="histogram" role="region" tabIndex={0} aria-label={label}>
      {shown.map((n, i) => (
        <div key={i} title={what(n, low + i)} data-calls={n}>
          <span class="count">{n ? short(n) : ""}</span>
          <span class="column" style={{ height: `${n ? Math.max(1, (100 * Math.log1p(n)) / Math.log1p(most)) : 0}px` }} />
          <span class="at">{at(low + i).replace(".00", "")}</span>
        </div>
      ))}
    </div>
  );
}

function short(n) {
  if (n < 10000) return String(n);
  if (n < 1e6) return `${Math.round(n / 1000)}k`;
  return `${(n / 1e6).toPrecision(3)}M`;
}
