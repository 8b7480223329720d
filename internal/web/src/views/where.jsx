// The call that each rank is in, or was in when the job ended, and whom it waits for.

import { address, useCurrent } from "../data.js";
import { grouped, rankText, seconds, shorten } from "../format.js";
import { Note, Search, Wait } from "../parts.jsx";
import { Table, textFilter } from "../table.jsx";

export function Where({ id, query, live }) {
  const where = useCurrent(address(id, "where", { groups: true }));
  return (
    <>
      <div class="bar-tools">
        <h2>{live ? "Where the ranks are" : "Where the ranks were"}</h2>
        <Search value={query.q} label="filter" />
        {live && <button type="button" onClick={where.reload}>refresh</button>}
      </div>
      <Wait on={where}>{(w) => (w.groups.length ? <JobState where={w} text={query.q} /> : <Note>No rank was in a call when the job ended.</Note>)}</Wait>
    </>
  );
}

// JobState shows who is where, and whom they wait for.
export function JobState({ where, text }) {
  return (
    <>
      <Verdict where={where} />
      <Table
        name="where" caption="calls in progress" rows={where.groups} place={(g) => ({ at: [{ op: g.op, site: g.site }], ranks: g.ranks })} select={(g) => ({ op: g.op, site: g.site || undefined, ranks: shorten(rankText(g.ranks), 200) })} columns={columns}
        matches={textFilter(text, (g) => `${g.op ?? ""} ${g.site ?? ""} ${g.state} ${(g.args ?? []).join(" ")}`)}
      />
    </>
  );
}

// Verdict is the banner of deadlocks and of ranks that wait for ended processes.
export function Verdict({ where }) {
  return (
    <>
      {where.deadlocks.map((d) => (
        <p key={d.cycle.join()} class="problem" role="alert" data-figure="deadlock">
          <b>DEADLOCK</b> {d.ranks.length === 1 ? `rank ${d.ranks[0]} waits for itself` : `ranks ${shorten(rankText(d.ranks), 60)} wait for each other: ${shorten([...d.cycle, d.cycle[0]].join(" → "), 80)}`}
        </p>
      ))}
      {where.mismatches?.map((m, i) => (
        <p key={i} class="problem" role="alert" data-figure="mismatch">
          <b>MISMATCH</b> {`the collective calls on ${m.on} differ in the ${m.differ}: `}
          {m.calls.map((c) => `${rankCall(c)}${c.in ? "" : ", has returned"}`).join("; ")}
        </p>
      ))}
      {where.inVain?.length > 0 && <p class="problem" role="alert"><b>BLOCKED</b>{` ranks ${shorten(rankText(where.inVain), 80)} wait for processes that have ended`}</p>}
      {where.behind?.length > 0 && <Note>{`behind: ranks ${shorten(rankText(where.behind), 80)} wait for ranks that are blocked forever`}</Note>}
      {where.missing?.length > 0 && <Note>{`missing: ranks ${shorten(rankText(where.missing), 80)}`}</Note>}
    </>
  );
}

const rankCall = (c) => `${c.ranks.length === 1 ? "rank" : "ranks"} ${shorten(rankText(c.ranks), 40)}: ${c.op}(${c.args.join(", ")}) at ${c.site}`;

// argText writes an argument; of one that differs between the ranks, its values.
function argText(g, arg) {
  const [name] = arg.split("=", 1);
  const v = arg === `${name}=*` && g.varying?.find((x) => x.name === name);
  if (!v) return arg;
  return `${name}={${v.number <= 4 ? v.values.join(", ") : `${v.number} values`}}`;
}

const doing = (g) => {
  if (g.state === "in call") return `${g.op}(${(g.args ?? []).map((a) => argText(g, a)).join(", ")})`;
  return g.op ? `${g.state}, after ${g.op}` : g.state;
};

function awaits(g) {
  if (g.offset) return `the rank ${g.offset > 0 ? "+" : ""}${g.offset}`;
  if (!g.awaits?.length) return "";
  return (g.any ? "any of " : "") + rankText(g.awaits);
}

const columns = [
  { head: "ranks", value: (g) => g.ranks[0], text: (g) => rankText(g.ranks), most: 20 },
  { head: "threads", right: true, value: (g) => g.threads, text: (g) => grouped(g.threads) },
  { head: "for", right: true, value: (g) => g.longest, text: (g) => (g.longest === undefined ? "-" : seconds(g.longest)) },
  { head: "doing", value: doing, text: doing, most: 70, cell: (g) => <span class={g.stuck ? "state bad" : undefined}>{doing(g)}</span> },
  { head: "at", value: (g) => g.site ?? "" },
  { head: "awaits", value: awaits, text: awaits, most: 24 },
];
