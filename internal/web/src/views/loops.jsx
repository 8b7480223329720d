// The loops of the program, and what an iteration does.

import { address, useStored } from "../data.js";
import { byteCell, fixed, grouped, listedRanges, nanos, percent, plural, rangesText } from "../format.js";
import { Note, Search, Wait } from "../parts.jsx";
import { Table, textFilter } from "../table.jsx";
import { timeOf } from "./columns.jsx";

const groupsShown = 20;

export function Loops({ id, query }) {
  const loops = useStored(address(id, "loops", { ranges: listedRanges }));
  return (
    <>
      <div class="bar-tools">
        <h2>Loops</h2>
        <Search value={query.q} label="filter loops" />
      </div>
      <Wait on={loops}>{(data) => <Groups data={data} text={query.q} />}</Wait>
    </>
  );
}

function Groups({ data, text }) {
  const groups = data.groups.filter((g) => g.loops.length > 0);
  if (!groups.length) return <Note>No loops were found.</Note>;
  return (
    <>
      {groups.slice(0, groupsShown).map((g, i) => (
        <section key={i}>
          <h3>{`Ranks ${rangesText(g.ranks, 80)}${g.thread ? `, thread ${g.thread}` : ""}`}</h3>
          <Table name={`loops${i || ""}`} caption="loops" rows={g.loops} columns={columns(g, data.timed)} matches={textFilter(text, (l) => `${l.op} ${l.site}`)} place={(l) => ({ loop: l.number, at: [l] })} select={(l) => ({ loop: l.number, op: l.op, site: l.site })} />
        </section>
      ))}
      {groups.length > groupsShown && <Note>{`and ${plural(groups.length - groupsShown, "more group")} of ranks with other loops`}</Note>}
    </>
  );
}

const of = (x) => (x.least === x.most ? grouped(x.least) : `${grouped(x.least)}-${grouped(x.most)}`);

function columns(group, timed) {
  const per = (l, v) => (l.iterations.sum ? v / l.iterations.sum : 0);
  const number = (v) => (Number.isInteger(v) ? grouped(v) : fixed(v, 2));
  const share = (l) => (group.app ? (timeOf(l) + (l.gap ?? 0)) / group.app : 0);
  const list = [
    { head: "loop", value: (l) => l.number, text: (l) => "  ".repeat(l.depth - 1) + l.number + (l.irreducible ? " *" : ""), cell: (l) => <span class="indent" style={{ paddingLeft: `${(l.depth - 1) * 1.2}em` }}>{l.number}{l.irreducible ? " *" : ""}</span> },
    { head: "begins at", value: (l) => l.site, text: (l) => l.site, most: 48 },
    { head: "with", value: (l) => l.op, text: (l) => l.op },
    { head: "entered", right: true, value: (l) => l.entries.sum, text: (l) => of(l.entries) },
    { head: "iterations", right: true, value: (l) => l.iterations.sum, text: (l) => of(l.iterations) },
    { head: "per entry", right: true, value: (l) => l.per_entry.mean, text: (l) => (l.per_entry.least === l.per_entry.most ? number(l.per_entry.mean) : `${number(l.per_entry.mean)} (${of(l.per_entry)})`) },
    { head: "calls/it.", right: true, value: (l) => per(l, l.calls), text: (l) => number(per(l, l.calls)) },
    { head: "sent/it.", right: true, value: (l) => per(l, l.sent), text: (l) => byteCell(per(l, l.sent)) },
    { head: "received/it.", right: true, value: (l) => per(l, l.received), text: (l) => byteCell(per(l, l.received)) },
  ];
  if (timed) {
    list.push(
      { head: "MPI/it.", right: true, value: (l) => per(l, timeOf(l)), text: (l) => nanos(per(l, timeOf(l))) },
      { head: "between/it.", right: true, value: (l) => per(l, l.gap ?? 0), text: (l) => nanos(per(l, l.gap ?? 0)) },
      { head: "%app", right: true, value: share, text: (l) => percent(share(l), 1), bar: share },
    );
  }
  return list;
}
