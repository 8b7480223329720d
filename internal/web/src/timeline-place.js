// What is at a place of a timeline: the call, its message, its collective call, its wait.

import { bytes, nanos, plural, shortenMiddle } from "./format.js";
import { left, mostArrows, tickText, top } from "./timeline-draw.js";
import { visitAt, visitText } from "./timeline-regions.js";
import { membersOf, nothing, other, outside, unread, untimed } from "./timeline.js";

const mostMembers = 60; // characters of the ranks of a row

// read makes objects of the server's answer.
export function read(flows) {
  if (!flows) return undefined;
  const place = (i) => (i < 0 ? "" : `${flows.places[i].op} ${flows.places[i].site}`);
  return {
    messages: flows.messages.map(([from, , fromPlace, sent, to, , toPlace, received, size, tag, comm]) => ({
      from, fromPlace: place(fromPlace), sent, to, toPlace: place(toPlace), received, size, tag, comm: flows.comms[comm],
    })),
    collectives: flows.collectives.map(({ op, comm, parts }) => ({ op, comm: flows.comms[comm], parts })),
    waits: flows.waits.map(([rank, , at, begin, end, state, by, , byPlace]) => ({ rank, place: place(at), begin, end, state: flows.states[state].name, by, byPlace: place(byPlace) })),
    messageCount: flows.message_count, waitCount: flows.wait_count, collectiveCount: flows.collective_count,
  };
}

export function flowsText(flows) {
  if (!flows) return "";
  const few = (n) => (n > mostArrows ? ` (drawn if there are ${mostArrows} or fewer)` : "");
  return `; ${plural(flows.messageCount, "message")}${few(flows.messageCount)}, ${plural(flows.collectiveCount, "collective call")}${few(flows.collectiveCount)}, ${plural(flows.waitCount, "wait")}, hatched`;
}

// pointed says what is at a place of the picture.
export function pointed(state, { x, y }) {
  const { view, from, to, side, rowHeight } = state;
  const row = Math.floor((y - top) / rowHeight);
  const time = from + ((x - left) / side.width) * (to - from);
  const column = Math.floor((time - view.from) / view.pixel);
  if (row < 0 || row >= view.rows.length || column < 0 || column >= view.width || x < left) return "";
  const visit = visitAt(state, { x, y });
  if (visit) return visitText(visit, state);
  const [first, last] = view.rows[row];
  const host = state.hosts?.get(first);
  const who = `${first === last ? `rank ${first}` : `ranks ${shortenMiddle(membersOf(view, row), mostMembers)}`}${host ? ` on ${host}` : ""}`;
  const when = tickText(time, to - from);
  const call = first === last && callAt(view, first, time);
  if (call) {
    const [, thread, start, end, proc, site] = call;
    return `${who}${thread ? `, thread ${thread}` : ""}, ${when}: ${name(view, proc)} ${view.sites[site]}, from ${tickText(start, to - from)}, ${hasReturned(view, call) ? "took" : "has not returned after"} ${nanos(end - start)}${partnerText(state, first, time, call)}${waitText(waitAt(state, first, time))}`;
  }
  const about = first === last ? partnerText(state, first, time) + waitText(waitAt(state, first, time)) : "";
  return `${who}, ${when}: ${name(view, view.pixels[row * view.width + column])}${about}`;
}

// hasReturned tells whether a call returned before the recording ended.
const hasReturned = (view, call) => !view.unfinished?.some((i) => view.slices[i] === call);

// messageAt is the message that a call of a rank receives, or sends.
export function messageAt({ flows }, rank, [, , start, end]) {
  const inside = (t) => start <= t && t <= end;
  return flows?.messages.find((m) => m.to === rank && inside(m.received)) ?? flows?.messages.find((m) => m.from === rank && inside(m.sent));
}

// collectiveAt is the collective call that a rank is in at a time.
export function collectiveAt({ flows }, rank, time) {
  return flows?.collectives.find((c) => c.parts.some(([r, begin, end]) => r === rank && begin <= time && time <= end));
}

// partnerText says whom a rank has to do with at a time, and in a call, if there is one.
function partnerText(state, rank, time, call) {
  const c = collectiveAt(state, rank, time);
  if (c) return `; ${c.op} of ${plural(c.parts.length, "rank")}${c.comm ? ` on ${c.comm}` : ""}`;
  const m = call && messageAt(state, rank, call);
  if (!m) return "";
  return `; ${m.to === rank ? `receives ${bytes(m.size)} of rank ${m.from}` : `sends ${bytes(m.size)} to rank ${m.to}`}, tag ${m.tag} on ${m.comm}`;
}

// waitAt is the wait of a rank at a time, to within a pixel.
function waitAt({ flows, from, to, side }, rank, time) {
  const pixel = (to - from) / side.width;
  return flows?.waits.find((w) => w.rank === rank && w.begin <= time + pixel && time - pixel <= w.end);
}

function waitText(w) {
  if (!w) return "";
  return `; ${w.state}: waits ${nanos(w.end - w.begin)}${w.by < 0 ? "" : ` for rank ${w.by} in ${w.byPlace}`}`;
}

// follow returns where the wait at a place, or the message that is received there, comes from.
export function follow(state, { rank, time }) {
  const w = waitAt(state, rank, time);
  if (w && w.by >= 0) return { rank: w.by, time: w.end };
  const pixel = (state.to - state.from) / state.side.width;
  const m = state.flows?.messages.findLast((m) => m.to === rank && m.sent <= time + pixel && time - pixel <= m.received);
  return m && { rank: m.from, time: m.sent };
}

export function callAt(view, rank, time) {
  return view.slices?.find(([r, , start, end]) => r === rank && start <= time && time <= end);
}

function name(view, pixel) {
  switch (pixel) {
    case outside: return "outside MPI";
    case other: case untimed: return "another procedure";
    case unread: return "not looked at";
    case nothing: return "nothing recorded";
  }
  return view.legend[pixel - 1]?.op ?? "another procedure";
}
