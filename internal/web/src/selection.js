// What is selected: the same in all views. It is in the address, so that it can be linked to.

import { nanos } from "./format.js";
import { change } from "./route.js";

// parts are those of a selection, by their names in the address:
//   ranks   as in 0-3,7
//   time    begin-end in ns, by the clock of a timeline's answer
//   op      a procedure, site a callsite, loop the number of a loop, comm a communicator,
//   region  a region with those around it, as in step/solve
// only: tables have only the rows about it.
const parts = ["op", "site", "ranks", "time", "loop", "comm", "region"];
const prefix = "s.";

// selectionIn reads the selection in an address's query.
export function selectionIn(query) {
  const s = { only: query[`${prefix}only`] === "1" };
  for (const p of parts) {
    if (query[prefix + p]) s[p] = query[prefix + p];
  }
  s.some = parts.some((p) => s[p] !== undefined);
  s.rankRanges = s.ranks && rangesIn(s.ranks);
  s.span = s.time && spanIn(s.time);
  return s;
}

// selectionQuery is the part of a query that other views keep: the selection, and how callsites are told apart.
export const selectionQuery = (query) => Object.fromEntries(Object.entries(query).filter(([k]) => k.startsWith(prefix) || k === "paths"));

// asQuery are parts of a selection as a query has them. Those that are undefined are as they were.
export function asQuery(selected) {
  const query = {};
  for (const p of [...parts, "only"]) {
    if (selected[p] !== undefined) query[prefix + p] = selected[p] ?? "";
  }
  return query;
}

export const nothingSelected = Object.fromEntries([...parts, "only"].map((p) => [prefix + p, ""]));

// select selects parts, besides those that are selected already.
export const select = (selected) => change(asQuery(selected), true);

// selectOnly selects these and nothing else, or, if they were, nothing.
export function selectOnly(selected, now) {
  const same = parts.every((p) => (selected[p] ?? undefined) === now[p]);
  change({ ...nothingSelected, ...(same ? {} : { ...asQuery(selected), [`${prefix}only`]: now.only && "1" }) }, true);
}

// rangesIn reads 0-3,7 as [[0, 3], [7, 7]].
export function rangesIn(text) {
  return text.split(",").map((t) => t.match(/^(\d+)(?:-(\d+))?$/)).filter(Boolean).map(([, a, b]) => [Number(a), Number(b ?? a)]);
}

function spanIn(text) {
  const m = text.match(/^(\d+)-(\d+)$/);
  return m ? [Number(m[1]), Number(m[2])] : undefined;
}

export const hasRank = (ranges, rank) => ranges.some(([a, b]) => a <= rank && rank <= b);

// isSelected reports whether something is about what is selected. place says what it is about: at, calls
// with op, site or both, of which one must agree; ranks; loop; region. What only one of both says is not compared.
export function isSelected(selection, place) {
  if (!selection.some) return false;
  const held = [];
  if (place.at && (selection.op || selection.site)) held.push(place.at.some((c) => c && isCall(selection, c)));
  if (place.ranks && selection.rankRanges) held.push(place.ranks.some((r) => hasRank(selection.rankRanges, r)));
  if (place.loop !== undefined && selection.loop) held.push(place.loop === selection.loop);
  if (place.comm !== undefined && selection.comm) held.push(place.comm === selection.comm);
  if (place.region !== undefined && selection.region) held.push(place.region === selection.region);
  return held.length > 0 && held.every(Boolean);
}

// isCall reports whether a procedure, a callsite, or a procedure at a callsite is the selected one.
function isCall(selection, call) {
  const both = ["op", "site"].filter((k) => call[k] !== undefined && selection[k]);
  return both.length > 0 && both.every((k) => (k === "site" ? sameSite(call.site, selection.site) : call[k] === selection[k]));
}

const caller = " ← ";

// sameSite reports whether two callsites are the same as far as both say what led there.
export const sameSite = (a, b) => a === b || a.startsWith(b + caller) || b.startsWith(a + caller);

// withoutPath is a callsite without what led there.
export const withoutPath = (site) => site?.split(caller)[0];

// words name what is selected.
export function words(selection, begin = 0) {
  const list = [];
  if (selection.op) list.push(["op", "procedure", selection.op]);
  if (selection.site) list.push(["site", "callsite", selection.site]);
  if (selection.ranks) list.push(["ranks", /[-,]/.test(selection.ranks) ? "ranks" : "rank", selection.ranks]);
  if (selection.span) list.push(["time", "time", `${nanos(selection.span[0] - begin)} to ${nanos(selection.span[1] - begin)}`]);
  if (selection.loop) list.push(["loop", "loop", selection.loop]);
  if (selection.comm) list.push(["comm", "communicator", selection.comm]);
  if (selection.region) list.push(["region", "region", selection.region]);
  return list;
}
