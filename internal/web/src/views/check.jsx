// Faults of the program.

import { address, useStored } from "../data.js";
import { grouped, plural, rankText, shorten } from "../format.js";
import { Note, Search, Wait } from "../parts.jsx";
import { Table, textFilter } from "../table.jsx";

export function Check({ id, query, live }) {
  const check = useStored(address(id, "check"));
  return (
    <>
      <div class="bar-tools">
        <h2>Faults</h2>
        <Search value={query.q} label="filter findings" />
      </div>
      {live && <Note>The job is still running: messages in transit and open requests may look like errors.</Note>}
      <Wait on={check}>{(c) => <Findings check={c} text={query.q} />}</Wait>
    </>
  );
}

function Findings({ check, text }) {
  const matched = [
    [check.requests, "request"], [check.objects, "object"], [check.collectives, "collective call"],
  ].filter(([n]) => n > 0).map(([n, what]) => plural(n, what));
  const what = [`${plural(check.calls, "call")} of ${plural(check.processes, "rank")}`, `${grouped(check.sent)} messages sent and ${grouped(check.received)} received`, ...matched];
  return (
    <>
      <p class={check.faults ? "problem" : "good"} data-figure="faults">
        {check.faults ? `${plural(check.faults, "fault")} found` : "No faults were found."}
      </p>
      <Note>{`checked: ${what.join(", ")}`}</Note>
      {check.incomplete.length > 0 && <Note>{`recordings that end early: ranks ${shorten(rankText(check.incomplete), 80)}`}</Note>}
      {check.missing.length > 0 && (
        <Note>{`ranks that are not in the file: ${shorten(rankText(check.missing), 80)}. ${plural(check.unjudged, "message")} sent to or received from them were not checked`}</Note>
      )}
      {uncompared(check.uncompared).map((text) => <Note key={text}>{text}</Note>)}
      {check.findings.length > 0 && (
        <Table name="findings" caption="findings" rows={check.findings} place={(f) => ({ at: [{ op: f.op, site: f.site }], ranks: f.ranks })} select={(f) => ({ op: f.op, site: f.site, ranks: shorten(rankText(f.ranks), 200) })} matches={textFilter(text, (f) => `${f.kind} ${f.op} ${f.site} ${f.text}`)} columns={columns} />
      )}
    </>
  );
}

// uncompared says which times were not compared, in a line for each reason.
function uncompared(stretches) {
  const reasons = new Map();
  for (const s of stretches) {
    const r = reasons.get(s.text) ?? { calls: 0, ranks: new Set() };
    r.calls += s.calls;
    r.ranks.add(s.rank);
    reasons.set(s.text, r);
  }
  return [...reasons].sort(([a], [b]) => (a < b ? -1 : 1)).map(([why, { calls, ranks }]) => {
    const list = [...ranks].sort((a, b) => a - b);
    return `times of ${plural(calls, "call")} on ${list.length > 1 ? "ranks" : "rank"} ${shorten(rankText(list), 80)} were not compared: ${why}`;
  });
}

const columns = [
  { head: "finding", value: (f) => f.kind, text: (f) => f.kind + (f.remark ? " ?" : ""), most: 40 },
  { head: "rank", right: true, value: (f) => f.rank, text: (f) => String(f.rank) },
  { head: "event", right: true, value: (f) => f.event, text: (f) => grouped(f.event) },
  { head: "call", value: (f) => f.op, text: (f) => f.op },
  { head: "callsite", value: (f) => f.site, most: 32 },
  { head: "what", text: (f) => f.text + (f.remark ? ` (${f.remark})` : ""), most: 90 },
  { head: "times", right: true, value: (f) => f.count, text: (f) => grouped(f.count) },
  { head: "on ranks", text: (f) => rankText(f.ranks), most: 16 },
];
