// What costs time and why: the first thing that is shown of a run.

import { useState } from "preact/hooks";
import { address, useStored } from "../data.js";
import { fixed, grouped, nanos, percent, rankText } from "../format.js";
import { Note, Wait } from "../parts.jsx";
import { link } from "../route.js";
import { asQuery } from "../selection.js";
import { kinds, Stack } from "../stack.jsx";
import { Table } from "../table.jsx";

// waitsOf is asked for by several views: the server computes it once.
export const waitsOf = (id) => address(id, "waits", { top: 100, ranges: 256 });

const parts = 60; // of the time, in the picture
export const isTraced = (run) => run.time.startsWith("trace");
export const efficiencyOf = (id, run) => address(id, "efficiency", { windows: isTraced(run) && parts });

// The calls of larger runs are followed from rank to rank once the user wants that: it takes long.
const mostFollowed = 10_000_000;
const followed = new Set(); // runs for which it is wanted

// useFollowing tells whether the calls of a run are to be followed, and what offers that if not.
export function useFollowing(id, run) {
  const [, redraw] = useState(0);
  if (run.events <= mostFollowed || followed.has(id)) return [true, null];
  const follow = () => {
    followed.add(id);
    redraw((n) => n + 1);
  };
  return [false, (
    <Note>
      {`Why ranks wait, and what that costs, is known once all ${grouped(run.events)} calls have been followed from rank to rank: about a million a second. `}
      <button type="button" onClick={follow}>follow them</button>
    </Note>
  )];
}

const findingsOf = (id) => address(id, "report", { by: "findings" });

// evidence is the view that shows what a sentence says.
const evidence = { efficiency: "efficiency", waiting: "waits", state: "waits", cause: "waits", path: "waits", balance: "what-if", network: "what-if" };

export function Why({ id, run }) {
  const traced = isTraced(run);
  const report = useStored(run.time === "off" ? undefined : findingsOf(id));
  const [follow, offer] = useFollowing(id, run);
  const waits = useStored(traced && follow ? waitsOf(id) : undefined);
  const efficiency = useStored(run.time === "off" || (traced && !follow) ? undefined : efficiencyOf(id, run));
  if (run.time === "off") return null;
  return (
    <section aria-label="what costs time, and why" class="why">
      <Wait on={report}>{(r) => <Findings id={id} list={r.findings ?? []} />}</Wait>
      {traced && offer}
      <div class="side-by-side">
        {traced && waits.data && (
          <div class="wide">
            <h2>Time of each rank</h2>
            <RankStack waits={waits.data} />
          </div>
        )}
        {efficiency.data && (
          <div>
            <h2><a href={link(["runs", id, "efficiency"])}>Efficiency</a></h2>
            <Tree run={efficiency.data.runs[0]} />
          </div>
        )}
      </div>
      {traced && waits.data && (
        <>
          <h2><a href={link(["runs", id, "waits"])}>Costliest causes of waiting</a></h2>
          <Causes waits={waits.data} most={5} />
        </>
      )}
    </section>
  );
}

function Findings({ id, list }) {
  return (
    <ol class="findings" data-ready="findings">
      {list.map((f) => (
        <li key={f.kind}>
          {evidence[f.kind] ? <a href={link(["runs", id, evidence[f.kind]], { q: f.where?.at?.site, ...asQuery(partsOf(f)) })}>{f.text}</a> : f.text}
        </li>
      ))}
    </ol>
  );
}

// partsOf is what a sentence is about, to be selected. Of a state the ranks are those that wait: many.
const partsOf = (f) => ({ ...callOf(f.where), ranks: f.ranks?.length && f.kind !== "state" ? rankText(f.ranks) : undefined, loop: f.where ? undefined : f.loop?.number });

// callOf is the call of a region.
const callOf = (region) => (region?.at ? { op: region.at.op, site: region.at.site } : {});

// regionPlace says what a region of some ranks is about.
export const regionPlace = (r) => ({ at: [r.at, r.from], ranks: r.ranks?.map(([rank]) => rank), loop: r.loop?.number });

// regionParts are what a click on a region selects.
export const regionParts = (r) => ({ ...callOf(r), ranks: r.ranks?.length ? pairRanks(r.ranks.slice(0, 16)) : undefined });

export function RankStack({ waits }) {
  const columns = waits.by_rank.map((r) => ({
    label: `rank ${r.rank}`,
    parts: { computation: Math.max(0, r.time - r.mpi), mpi: Math.max(0, r.mpi - r.waiting), waiting: r.waiting },
  }));
  if (!columns.length) return <Note>No times are known.</Note>;
  return <Stack label="time of each rank" columns={columns} of={Object.keys(kinds)} text={nanos} />;
}

export const placeText = (p) => (p ? `${p.op} ${p.site}` : "");

// regionText names a call, or the computation before one.
export function regionText(r) {
  if (r.kind === "unknown") return "(unknown)";
  if (r.kind === "call") return placeText(r.at);
  return r.from ? `computation from ${placeText(r.from)} to ${placeText(r.at)}` : `computation before ${placeText(r.at)}`;
}

// pairRanks are the ranks of pairs of a rank and a time.
export function pairRanks(pairs) {
  const text = rankText(pairs.map(([rank]) => rank).toSorted((a, b) => a - b));
  return pairs.length >= 256 ? `${text},…` : text;
}

export function Causes({ waits, most, matches }) {
  const all = Math.max(1, waits.waiting);
  const rows = most ? waits.causes.slice(0, most) : waits.causes;
  if (!rows.length) return <Note>Nothing waits.</Note>;
  return (
    <Table
      name="causes" caption="causes of waiting" rows={rows} order="-waiting" matches={matches} place={regionPlace} select={regionParts}
      columns={[
        { head: "waiting", title: "the waiting that it costs others, directly or through other waiting", right: true, value: (r) => r.time, text: (r) => nanos(r.time) },
        { head: "of all", right: true, value: (r) => r.time, text: (r) => percent(r.time, all), bar: (r) => r.time / all },
        { head: "direct", right: true, value: (r) => r.direct, text: (r) => nanos(r.direct) },
        { head: "indirect", right: true, value: (r) => r.time - r.direct, text: (r) => nanos(r.time - r.direct) },
        { head: "ranks", title: "the late ones", value: (r) => r.ranks[0]?.[0], text: (r) => pairRanks(r.ranks), most: 20 },
        { head: "in", value: regionText, text: regionText, most: 130 },
      ]}
    />
  );
}

// Tree shows the factors of the parallel efficiency as bars; what is lost at each is hatched.
export function Tree({ run }) {
  const rows = [
    ["parallel efficiency", 0, run.parallel], ["load balance", 1, run.load_balance], ["communication efficiency", 1, run.communication],
    ["serialisation", 2, run.serialisation], ["transfer", 2, run.transfer],
  ].filter(([, , v]) => v !== null && v !== undefined);
  return (
    <table class="tree">
      <caption>efficiency</caption>
      <tbody>
        {rows.map(([name, depth, v]) => (
          <tr key={name}>
            <th scope="row" style={{ paddingLeft: `${depth * 16}px` }}>{name}</th>
            <td class="right">{`${fixed(100 * v, 1)}%`}</td>
            <td class="tree-bar" aria-hidden="true"><div style={{ width: `${Math.min(100, 100 * v)}%` }} /></td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
