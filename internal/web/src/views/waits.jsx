// Which calls wait, how long, and for which calls of which ranks; what causes it; the critical path.

import { useMemo } from "preact/hooks";
import { useStored } from "../data.js";
import { grouped, nanos, percent, shortenMiddle } from "../format.js";
import { Heat, Truncated } from "../heat.jsx";
import { Note, Search, Wait } from "../parts.jsx";
import { link } from "../route.js";
import { Table, textFilter } from "../table.jsx";
import { asQuery, isSelected, select, selectionIn } from "../selection.js";
import { Causes, isTraced, pairRanks, placeText, RankStack, regionParts, regionPlace, regionText, useFollowing, waitsOf } from "./why.jsx";

export function Waits({ id, run, query }) {
  const [follow, offer] = useFollowing(id, run);
  const answer = useStored(isTraced(run) && follow ? waitsOf(id) : undefined);
  if (!isTraced(run)) return <Note>The times of each call were not recorded: efg run records them, unless --time off or --time stats is given.</Note>;
  if (!follow) return offer;
  return <Wait on={answer}>{(w) => <Shown id={id} waits={w} query={query} />}</Wait>;
}

function Shown({ id, waits, query }) {
  const names = useMemo(() => new Map(waits.states.map((s) => [s.state, s.name])), [waits]);
  const matches = textFilter(query.q, (r) => `${names.get(r.state)} ${placeText(r.at)} ${placeText(r.for)}`);
  const selection = selectionIn(query);
  const inRegion = textFilter(query.q, regionText);
  return (
    <div data-ready="waits">
      <p>
        Ranks wait <b data-figure="waiting">{percent(waits.waiting, waits.time)}</b> of the time: <b>{nanos(waits.waiting)}</b> of {nanos(waits.time)}, all
        threads together, without MPI_Init and MPI_Finalize
      </p>
      <Notes waits={waits} />
      <Unfinished rows={waits.unfinished} />
      <RankStack waits={waits} />
      <h2>States</h2>
      <Table
        name="states" caption="wait states" rows={waits.states}
        columns={[
          { head: "state", value: (s) => s.name, text: (s) => s.name },
          { head: "time", right: true, value: (s) => s.time, text: (s) => nanos(s.time) },
          { head: "of time", right: true, value: (s) => (s.apart ? -1 : s.time), text: (s) => (s.apart ? "apart" : percent(s.time, waits.time)), bar: (s) => (s.apart ? 0 : s.time / Math.max(1, waits.time)) },
          { head: "waits", right: true, value: (s) => s.waits, text: (s) => grouped(s.waits) },
        ]}
      />
      <div class="bar-tools">
        <h2>Waits</h2>
        <Search value={query.q} label="filter states and callsites" />
      </div>
      <Table name="wait-rows" caption="waits" rows={waits.rows} order="-time" matches={matches} columns={columns(id, waits, names)} place={rowPlace} select={rowParts} />
      <h2>Where which rank waits</h2>
      <HeatMap waits={waits} names={names} matches={matches} selection={selection} />
      <h2>Who waits for whom</h2>
      <Pairs pairs={waits.pairs} selection={selection} />
      <h2>Causes</h2>
      <Note>where ranks that others waited for took longer than these</Note>
      <Causes waits={waits} matches={inRegion} />
      <Sections waits={waits} />
      <h2>Critical path</h2>
      <Path path={waits.path} matches={inRegion} />
    </div>
  );
}

function Notes({ waits }) {
  const m = waits.matched;
  const notes = [
    m.end !== undefined && `this is of the run's first ${nanos(m.end)}, where the times of each call end in some ranks`,
    m.unmatched > 0 && `calls whose counterpart is not in the recording: ${grouped(m.unmatched)}`,
    m.outside > 0 && `messages from or to processes that are not in the file: ${grouped(m.outside)}`,
    m.disagreeing > 0 && `collective calls that do not fit those of other ranks: ${grouped(m.disagreeing)}`,
    m.untimed > 0 && `threads without the times of each call: ${grouped(m.untimed)}`,
  ].filter(Boolean);
  return notes.map((text) => <Note key={text}>{text}</Note>);
}

// Unfinished shows the calls that had not returned when the recording ended.
function Unfinished({ rows }) {
  if (!rows.length) return null;
  const most = Math.max(1, ...rows.map((r) => r.time));
  return (
    <>
      <h2>Calls that had not returned when the recording ended</h2>
      <Note>their time is not included below</Note>
      <Table
        name="unfinished" caption="calls that had not returned" rows={rows} order="-time"
        columns={[
          { head: "time", right: true, value: (r) => r.time, text: (r) => (r.time ? nanos(r.time) : "-"), bar: (r) => r.time / most },
          { head: "longest", right: true, value: (r) => r.ranks[0][1], text: (r) => (r.ranks[0][1] ? nanos(r.ranks[0][1]) : "-") },
          { head: "ranks", value: (r) => r.ranks[0][0], text: (r) => pairRanks(r.ranks), most: 16 },
          { head: "in", value: (r) => placeText(r.at), text: (r) => placeText(r.at), most: 48 },
          { head: "for", title: "ranks of which these needed something, and what they were doing", value: needsText, text: (r) => needsText(r) || "-", most: 96 },
        ]}
        place={(r) => ({ at: [r.at], ranks: r.ranks.map(([rank]) => rank) })} select={(r) => ({ op: r.at.op, site: r.at.site, ranks: pairRanks(r.ranks) || undefined })}
      />
    </>
  );
}

// needsText says what ranks calls needed and what these were doing.
const needsText = (r) => r.for.map((n) => `${pairRanks(n.ranks.map((k) => [k]))} (${needText(n)})`).join(r.any ? " or " : " and ");

function needText({ doing, place }) {
  const at = placeText(place);
  if (doing === "absent") return "not in the file";
  if (doing === "in call") return `in ${at}`;
  return at ? `${doing} after ${at}` : `${doing} without a call`;
}

const rowPlace = (r) => ({ at: [r.at, r.for], ranks: [...r.ranks, ...r.for_ranks].map(([rank]) => rank) });

// rowParts: what leads to the cause of a wait is the call that is waited for.
const rowParts = (r) => ({ op: (r.for ?? r.at).op, site: (r.for ?? r.at).site, ranks: pairRanks((r.for ? r.for_ranks : r.ranks).slice(0, 16)) || undefined });

// toLongest leads to the longest of some waits in the timeline, with the ranks that wait and are waited for.
function toLongest(id, r) {
  const { at, time, rank } = r.longest;
  const margin = Math.round(0.6 * time) + 100;
  const ranks = r.longest.for === null ? String(rank) : [...new Set([rank, r.longest.for])].toSorted((a, b) => a - b).join(",");
  return link(["runs", id, "timeline"], { from: Math.max(0, at - margin), to: at + time + margin, ...asQuery({ op: r.at.op, site: r.at.site, ranks, time: `${at}-${at + time}` }) });
}

function columns(id, waits, names) {
  const most = Math.max(1, ...waits.rows.map((r) => r.time));
  return [
    { head: "time", right: true, value: (r) => r.time, text: (r) => nanos(r.time), bar: (r) => r.time / most },
    { head: "waits", right: true, value: (r) => r.waits, text: (r) => grouped(r.waits) },
    { head: "longest", right: true, value: (r) => r.longest.time, text: (r) => nanos(r.longest.time), cell: (r) => <a href={toLongest(id, r)} title="where it is, in the timeline" onClick={(e) => e.stopPropagation()}>{nanos(r.longest.time)}</a> },
    { head: "state", value: (r) => names.get(r.state), text: (r) => names.get(r.state) },
    { head: "ranks", title: "ranks that wait", value: (r) => r.ranks[0]?.[0], text: (r) => pairRanks(r.ranks), most: 16 },
    { head: "wait in", value: (r) => placeText(r.at), text: (r) => placeText(r.at), most: 48 },
    { head: "for ranks", value: (r) => r.for_ranks[0]?.[0], text: (r) => pairRanks(r.for_ranks) || "-", most: 16 },
    { head: "in", value: (r) => placeText(r.for), text: (r) => placeText(r.for) || "-", most: 48 },
  ];
}

const mapRows = 20;
const mapRanks = 128;

// HeatMap shows the costliest rows and how long each rank waits there. Of very many ranks those that
// wait longest have columns.
function HeatMap({ waits, names, matches, selection }) {
  const rows = waits.rows.filter(matches ?? (() => true)).toSorted((a, b) => b.time - a.time).slice(0, mapRows);
  const ranks = useMemo(() => {
    const all = waits.by_rank.toSorted((a, b) => b.waiting - a.waiting).slice(0, mapRanks);
    return all.map((r) => r.rank).toSorted((a, b) => a - b);
  }, [waits]);
  if (!rows.length) return <Note>Nothing waits.</Note>;
  const shown = rows.map((row) => {
    const of = new Map(row.ranks);
    return { label: shortenMiddle(`${names.get(row.state)}, ${placeText(row.at)}`, 70), title: `${names.get(row.state)}, ${placeText(row.at)}`, values: ranks.map((r) => of.get(r) ?? 0) };
  });
  return (
    <>
      <Heat
        name="where" caption="which rank waits where" corner="waits" rows={shown} columns={ranks.map((r) => ({ label: String(r), title: `rank ${r}` }))} text={nanos}
        open={(i, j) => select({ op: rows[i].at.op, site: rows[i].at.site, ranks: String(ranks[j]) })}
        marks={(i, j) => isSelected(selection, { at: [rows[i].at], ranks: [ranks[j]] })}
      />
      <Truncated shown={ranks.length} of={waits.by_rank.length} what="ranks" />
    </>
  );
}

// Pairs shows which ranks wait for which, of many ranks by blocks.
function Pairs({ pairs, selection }) {
  const { cells, width } = pairs;
  const firsts = useMemo(() => [...new Set(cells.flatMap(([a, b]) => [a, b]))].toSorted((a, b) => a - b), [pairs]);
  const by = useMemo(() => new Map(cells.map(([a, b, t]) => [`${a} ${b}`, t])), [pairs]);
  if (!cells.length) return <Note>Nobody waits for anybody.</Note>;
  const text = (first) => (width > 1 ? `${first}-${first + width - 1}` : String(first));
  const of = (first, does) => `${width > 1 ? "ranks" : "rank"} ${text(first)} ${does}`;
  return (
    <>
      <Note>rows wait, columns are waited for{width > 1 ? `; a cell: ${width} × ${width} ranks` : ""}</Note>
      <Heat
        name="pairs" caption="which ranks wait for which" corner="wait \ for"
        rows={firsts.map((a) => ({ label: text(a), title: of(a, width > 1 ? "wait" : "waits"), values: firsts.map((b) => by.get(`${a} ${b}`) ?? 0) }))}
        columns={firsts.map((b) => ({ label: String(b), title: `for ${of(b, "").trim()}` }))} text={nanos}
        open={(i, j) => select({ ranks: [...new Set([firsts[i], firsts[j]])].toSorted((a, b) => a - b).map(text).join(",") })}
        marks={(i, j) => Boolean(selection.rankRanges) && firsts[i] !== firsts[j] && [i, j].every((k) => isSelected(selection, { ranks: [firsts[k]] }))}
      />
    </>
  );
}

// sectionColumns are those of what a loop or a kind of phases causes.
function sectionColumns(waits) {
  const all = Math.max(1, waits.waiting), path = Math.max(1, waits.path.time);
  return [
    { head: "waiting", title: "that it causes, directly or through other waiting", right: true, value: (r) => r.time, text: (r) => nanos(r.time) },
    { head: "of all", right: true, value: (r) => r.time, text: (r) => percent(r.time, all), bar: (r) => r.time / all },
    { head: "direct", right: true, value: (r) => r.direct, text: (r) => nanos(r.direct) },
    { head: "path", title: "its time on the critical path", right: true, value: (r) => r.path, text: (r) => nanos(r.path) },
    { head: "of path", right: true, value: (r) => r.path, text: (r) => percent(r.path, path), bar: (r) => r.path / path },
    { head: "mean of ranks", right: true, value: (r) => r.mean, text: (r) => nanos(r.mean) },
    { head: "ranks", title: "that cause it", value: (r) => r.ranks[0]?.[0], text: (r) => pairRanks(r.ranks) || "-", most: 16 },
  ];
}

function Sections({ waits }) {
  const loopText = (r) => (r.loop ? `loop ${r.loop.number}, begins with ${placeText(r.loop)}` : "none");
  return (
    <>
      <h2>Caused by loops</h2>
      <Table
        name="wait-loops" caption="waiting caused by loops" rows={waits.loops} order="-waiting"
        place={(r) => ({ loop: r.loop?.number ?? "" })} select={(r) => (r.loop ? { loop: r.loop.number } : {})}
        columns={[...sectionColumns(waits), { head: "loop", value: loopText, text: loopText, most: 70 }]}
      />
      <h2>Caused by phases</h2>
      <Table
        name="wait-phases" caption="waiting caused by phases" rows={waits.phases} order="-waiting"
        place={(r) => ({ at: [r.from, r.until] })} select={(r) => ({ op: (r.until ?? r.from)?.op, site: (r.until ?? r.from)?.site })}
        columns={[
          ...sectionColumns(waits),
          { head: "row", title: "in the view of phases", right: true, value: (r) => r.row, text: (r) => (r.row ? String(r.row) : "-") },
          { head: "from", value: (r) => placeText(r.from), text: (r) => placeText(r.from) || (r.row ? "begin" : "unknown"), most: 44 },
          { head: "until", value: (r) => placeText(r.until), text: (r) => placeText(r.until) || (r.row ? "end" : ""), most: 44 },
        ]}
      />
    </>
  );
}

function Path({ path, matches }) {
  return (
    <>
      <Note>{`${nanos(path.time)} without MPI_Init and MPI_Finalize, ${grouped(path.hops)} steps from rank to rank; most of it on ${path.ranks.slice(0, 4).map(([r, t]) => `rank ${r} (${percent(t, path.time)})`).join(", ")}`}</Note>
      <Table
        name="path" caption="critical path" rows={path.rows} order="-time" matches={matches} place={regionPlace} select={regionParts}
        columns={[
          { head: "time", right: true, value: (r) => r.time, text: (r) => nanos(r.time) },
          { head: "of path", right: true, value: (r) => r.time, text: (r) => percent(r.time, path.time), bar: (r) => r.time / Math.max(1, path.time) },
          { head: "mean of ranks", right: true, value: (r) => r.mean, text: (r) => nanos(r.mean) },
          { head: "imbalance", title: "what could be gained if the work were shared equally", right: true, value: (r) => r.time - r.mean, text: (r) => (r.time > r.mean ? nanos(r.time - r.mean) : "-") },
          { head: "in", value: regionText, text: regionText, most: 130 },
        ]}
      />
    </>
  );
}
