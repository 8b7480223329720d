// How ranks of a run differ, or two ranks, or two runs.

import { address, useCurrent, useStored } from "../data.js";
import { byteCell, grouped, listedRanges, nanos, percent, plural, rangesText } from "../format.js";
import { Note, Search, TextField, Wait } from "../parts.jsx";
import { change } from "../route.js";
import { Table, textFilter } from "../table.jsx";
import { opColumn, siteColumn } from "./columns.jsx";

export function Diff({ id, query }) {
  const diff = useStored(address(id, "diff", { ranks: query.ranks, with: query.with, ranges: listedRanges }));
  return (
    <>
      <div class="bar-tools">
        <h2>Differences</h2>
        <OtherRun id={id} value={query.with} />
        <TextField label="ranks" name="ranks" value={query.ranks} hint="all, or 0,5" />
        <Search value={query.q} label="filter callsites" />
      </div>
      <Wait on={diff}>{(d) => <Answer diff={d} text={query.q} />}</Wait>
    </>
  );
}

function Answer({ diff, text }) {
  switch (diff.schema) {
    case "efg-diff-pair/1":
      return <Pair diff={diff} text={text} />;
    case "efg-diff-runs/1":
      return <Runs diff={diff} text={text} />;
  }
  return <Ranks diff={diff} text={text} />;
}

// OtherRun chooses a run to compare with.
export function OtherRun({ id, value, none = "the ranks of this run" }) {
  const list = useCurrent(address(null, "", { limit: 500 }));
  const names = (list.data?.runs ?? []).map((r) => r.name).reverse();
  if (value && !names.includes(value)) names.unshift(value);
  return (
    <label class="field">
      with{" "}
      <select value={value ?? ""} onChange={(e) => change({ with: e.currentTarget.value, ranks: "" })}>
        <option value="">{none}</option>
        {names.filter((n) => n !== id).map((n) => (
          <option key={n} value={n}>{n}</option>
        ))}
      </select>
    </label>
  );
}

const filterCalls = (text) => textFilter(text, (r) => `${r.op} ${r.site ?? ""} ${r.to_op ?? ""} ${r.to_site ?? ""}`);

// twoColumns are the columns of a pair of numbers, and by how much they differ.
function twoColumns(head, names, of, text) {
  const change = (r) => {
    const [a, b] = of(r);
    return a ? (b - a) / a : b ? Infinity : 0;
  };
  return [
    { head: `${head} ${names[0]}`, right: true, value: (r) => of(r)[0], text: (r) => text(of(r)[0]) },
    { head: names[1], right: true, value: (r) => of(r)[1], text: (r) => text(of(r)[1]) },
    { head: `${head} +/-`, right: true, value: change, text: (r) => changeText(change(r)) },
  ];
}

function changeText(v) {
  if (v === 0) return "-";
  if (v === Infinity) return "new";
  return `${v > 0 ? "+" : ""}${(100 * v).toFixed(Math.abs(v) < 0.1 ? 1 : 0)}%`;
}

const nanoCell = (v) => (v ? nanos(v) : "-");
const side = (key) => (r) => r.sides.map((s) => (key === "time" ? s.time?.sum ?? 0 : s[key]));

function Callsites({ diff, names, text }) {
  const timed = diff.timed.every(Boolean);
  return (
    <>
      <h2>Callsites</h2>
      <Table
        name="diff-callsites" caption="callsites" rows={diff.callsites} matches={filterCalls(text)}
        columns={[
          siteColumn, opColumn, ...twoColumns("calls", names, side("calls"), grouped), ...twoColumns("bytes", names, side("bytes"), byteCell),
          ...(timed ? [...twoColumns("time", names, side("time"), nanoCell),
            { head: "shift", title: "by how much durations moved, on average", right: true, value: (r) => r.shift, text: (r) => (r.shift ? nanos(r.shift) : "-") },
            { head: "ks", title: "how far the distributions of durations are apart: 0 equal, 1 apart", right: true, value: (r) => r.ks, text: (r) => (r.ks ? r.ks.toFixed(2) : "-"), bar: (r) => r.ks }] : []),
        ]}
      />
    </>
  );
}

function Pair({ diff, text }) {
  const names = diff.ranks[0] === diff.ranks[1] ? ["1st", "2nd"] : diff.ranks.map((r) => `rank ${r}`);
  const parts = diff.threads.map((t) => t.calls_part ?? t.arguments_part).filter(Boolean);
  return (
    <>
      <p class={diff.equal ? "good" : "note"} data-figure="equal">{diff.equal ? "Nothing differs but times." : `${plural(diff.structure.length, "difference")} of structure`}</p>
      {parts.map((p, i) => (
        <div key={i} class="parting">
          <p>{`They part at event ${grouped(p.event)}:`}</p>
          <pre>{p.events.map((e, k) => `${names[k]}: ${e || "(ended before)"}\n`).join("")}</pre>
        </div>
      ))}
      <Callsites diff={diff} names={names} text={text} />
      {diff.structure.length > 0 && (
        <>
          <h2>Structure</h2>
          <Table
            name="diff-structure" caption="structure" rows={diff.structure} matches={filterCalls(text)}
            columns={[
              { head: "what", value: (s) => s.what, text: (s) => s.what },
              siteColumn, opColumn,
              { head: names[0], text: (s) => s.text?.[0] ?? "", most: 44 },
              { head: names[1], text: (s) => s.text?.[1] ?? "", most: 44 },
              ...twoColumns("calls", names, (s) => s.calls, grouped),
            ]}
          />
        </>
      )}
    </>
  );
}

function Runs({ diff, text }) {
  const names = ["this", "other"];
  const total = (label, v, write) => ({ label, v, write });
  const totals = [total("ranks", diff.processes, grouped), total("calls", diff.calls, grouped), total("bytes", diff.bytes, byteCell)];
  if (diff.running) totals.push(total("time in MPI, without MPI_Init and MPI_Finalize", diff.running, nanoCell));
  return (
    <>
      {diff.identical && <p class="good">The same ranks with the same graphs and bytes.</p>}
      <Table
        name="diff-totals" caption="totals" rows={totals}
        columns={[
          { head: "total", text: (r) => r.label },
          { head: "this", right: true, text: (r) => r.write(r.v[0]) },
          { head: "other", right: true, text: (r) => r.write(r.v[1]) },
          { head: "+/-", right: true, text: (r) => changeText(r.v[0] ? (r.v[1] - r.v[0]) / r.v[0] : 0) },
        ]}
      />
      <h2>Ranks that match</h2>
      <Table
        name="diff-classes" caption="ranks that match" rows={diff.classes}
        columns={[
          { head: "matched by", value: (c) => c.match, text: (c) => (c.match === "none" ? "nothing" : c.match) },
          { head: "ranks this", text: (c) => rangesText(c.ranks[0] ?? [], 200), most: 30 },
          { head: "ranks other", text: (c) => rangesText(c.ranks[1] ?? [], 200), most: 30 },
          ...twoColumns("calls", names, (c) => c.calls, grouped),
          ...twoColumns("bytes", names, (c) => c.bytes, byteCell),
          ...(diff.running ? twoColumns("time", names, (c) => c.running ?? [0, 0], nanoCell) : []),
        ]}
      />
      <Callsites diff={diff} names={names} text={text} />
      <h2>Structure</h2>
      {diff.structure.length === 0 ? <Note>Both runs have the same calls and steps.</Note> : (
        <Table
          name="diff-structure" caption="structure" rows={diff.structure} matches={filterCalls(text)}
          columns={[
            { head: "only in", value: (s) => s.side, text: (s) => names[s.side] },
            siteColumn, opColumn,
            { head: "then", text: (s) => (s.to_op ? `${s.to_op} ${s.to_site}` : ""), most: 50 },
            { head: "ranks", right: true, value: (s) => s.ranks, text: (s) => grouped(s.ranks) },
          ]}
        />
      )}
    </>
  );
}

function Ranks({ diff, text }) {
  const spread = (key, write) => [
    { head: `${key} mean`, right: true, value: (r) => r[key].mean, text: (r) => write(r[key].mean) },
    { head: `least`, right: true, value: (r) => r[key].least, text: (r) => write(r[key].least) },
    { head: `most`, right: true, value: (r) => r[key].most, text: (r) => `${write(r[key].most)}` },
    { head: `of rank`, right: true, value: (r) => r[key].most_rank, text: (r) => String(r[key].most_rank) },
    { head: `${key} imb.`, right: true, value: (r) => r[key].imbalance, text: (r) => percent(r[key].imbalance, 1, 0) },
  ];
  const whole = (v) => grouped(Math.round(v));
  const key = diff.timed ? "time" : "bytes";
  return (
    <>
      <Note>{`${plural(diff.shapes, "shape")} and ${plural(diff.classes.length, "graph")} among ${plural(diff.processes, "rank")}. Click ranks that differ, or type two, to compare them.`}</Note>
      <h2>Classes of ranks</h2>
      <Table
        name="diff-classes" caption="classes of ranks" rows={diff.classes} open={(c) => compareWithFirst(diff, c)} rowTitle={() => "compare with the first class"}
        columns={[
          { head: "shape", right: true, value: (c) => c.shape, text: (c) => String(c.shape) },
          { head: "class", right: true, value: (c) => c.class, text: (c) => String(c.class) },
          { head: "ranks", right: true, value: (c) => c.count, text: (c) => grouped(c.count), bar: (c) => c.count / diff.processes },
          { head: "which", text: (c) => rangesText(c.ranks, 60), most: 40 },
          { head: "events/rank", right: true, value: (c) => c.events, text: (c) => grouped(c.events) },
          { head: "nodes", right: true, value: (c) => c.nodes, text: (c) => grouped(c.nodes) },
          { head: "edges", right: true, value: (c) => c.edges, text: (c) => grouped(c.edges) },
          { head: "bytes", right: true, value: (c) => c.bytes, text: (c) => byteCell(c.bytes) },
          ...(diff.timed ? [{ head: "time", right: true, value: (c) => c.time, text: (c) => nanoCell(c.time) }] : []),
        ]}
      />
      {diff.outliers?.length > 0 && (
        <>
          <h2>Outliers</h2>
          <Table
            name="diff-outliers" caption="outliers" rows={diff.outliers} matches={filterCalls(text)}
            columns={[
              { head: "what", value: (o) => o.what, text: (o) => o.what },
              { ...siteColumn, text: (o) => o.site || "all calls" }, opColumn,
              { head: "median", right: true, value: (o) => o.median, text: (o) => writeOf(o.what)(o.median) },
              { head: "farthest", right: true, value: (o) => o.value, text: (o) => writeOf(o.what)(o.value) },
              { head: "of rank", right: true, value: (o) => o.rank, text: (o) => String(o.rank) },
              { head: "score", right: true, value: (o) => o.score, text: (o) => o.score.toFixed(1) },
              { head: "ranks", text: (o) => rangesText(o.ranks, 40), most: 40 },
            ]}
          />
        </>
      )}
      <h2>Callsites</h2>
      <Table
        name="diff-imbalance" caption="callsites" rows={diff.imbalance} matches={filterCalls(text)}
        columns={[siteColumn, opColumn, { head: "ranks", right: true, value: (r) => r.ranks, text: (r) => grouped(r.ranks) }, ...spread(key, key === "time" ? nanoCell : byteCell), { head: "calls most", right: true, value: (r) => r.calls.most, text: (r) => whole(r.calls.most) }]}
      />
    </>
  );
}

const writeOf = (what) => (what === "time" ? nanoCell : what === "bytes" ? byteCell : (v) => grouped(Math.round(v)));

function compareWithFirst(diff, c) {
  const first = diff.classes[0].ranks[0][0];
  const other = c === diff.classes[0] ? first + 1 : c.ranks[0][0];
  if (other < diff.processes) change({ ranks: `${first},${other}`, with: "" });
}
