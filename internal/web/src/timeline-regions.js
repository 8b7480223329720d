// Bands of the regions that a program names: above the calls of each row, or, where rows are too low for
// that, those of one rank above all rows.

import { nanos, plural } from "./format.js";
import { left, tickText, top } from "./timeline-draw.js";

const mostLane = 16, leastLane = 3; // pixels of a band
const ink = "#1f2328"; // of names: bands are light in both themes

// readVisits makes objects of the server's answer: tracks by rank, each with its lanes below those of the
// tracks before it.
export function readVisits(doc) {
  if (!doc?.tracks.length) return undefined;
  const ranks = new Map();
  let lanes = 0;
  for (const { rank, thread, visits } of doc.tracks) {
    const tracks = ranks.get(rank) ?? ranks.set(rank, []).get(rank);
    const before = tracks.at(-1);
    const track = { rank, thread, first: before ? before.first + before.depth : 0, depth: visits.reduce((n, [depth]) => Math.max(n, depth + 1), 0) };
    track.visits = visits.map(([depth, region, begin, end, count, time, kind]) => ({ track, depth, region: doc.regions[region], begin, end, count, time, open: Boolean(kind & 1), mixed: Boolean(kind & 2) }));
    tracks.push(track);
    lanes = Math.max(lanes, track.first + track.depth);
  }
  return { ranks, lanes, regions: doc.regions, complete: doc.complete };
}

// roomForBands reports whether rows are so high that they have room for bands.
export const roomForBands = (rowHeight) => Math.floor(rowHeight * 0.6) >= 2 * leastLane;

// lanesIn is how high bands are in rows, and how many lanes fit; nothing if there is no room.
export function lanesIn(visits, rowHeight) {
  const room = Math.floor(rowHeight * 0.6);
  if (!visits?.lanes || !roomForBands(rowHeight)) return undefined;
  const height = Math.max(leastLane, Math.min(mostLane, Math.floor(room / visits.lanes)));
  return { height, count: Math.min(visits.lanes, Math.floor(room / height)) };
}

// stripLanes are those of the band above all rows.
export const stripLanes = (visits) => ({ height: Math.max(leastLane, Math.min(mostLane, Math.floor(96 / visits.lanes))), count: Math.min(visits.lanes, 24) });

export const regionPath = (region) => region.region.join("/");

// drawRegions draws the bands of all rows.
export function drawRegions(g, style, state, per) {
  const { view, rowHeight, visits, lanes } = state;
  if (!visits || !lanes) return;
  view.rows.forEach(([first], row) => drawTracks(g, style, state, visits.ranks.get(first), lanes, top + row * rowHeight, per));
}

// drawTracks draws the bands of a rank's threads.
export function drawTracks(g, style, { from, side, selection }, tracks, lanes, above, per) {
  g.font = `${Math.min(11, lanes.height - 3)}px system-ui, sans-serif`;
  g.textBaseline = "middle";
  g.textAlign = "left";
  const most = left + side.width;
  for (const track of tracks ?? []) {
    for (const v of track.visits) {
      const lane = track.first + v.depth;
      const a = Math.max(left, left + (v.begin - from) * per);
      const b = Math.min(most, left + (v.end - from) * per);
      if (lane >= lanes.count || b < left || a > most) continue;
      const y = above + lane * lanes.height;
      const wide = Math.max(1, b - a);
      g.fillStyle = v.region.colour;
      g.fillRect(a, y, wide, lanes.height - (lanes.height > 4 ? 1 : 0));
      if (wide > 3) {
        g.fillStyle = style.getPropertyValue("--quiet");
        g.fillRect(a, y, 0.5, lanes.height);
      }
      if (selection.region && selection.region === regionPath(v.region)) {
        g.strokeStyle = style.getPropertyValue("--ink");
        g.strokeRect(a + 0.5, y + 0.5, Math.max(1, wide - 1), lanes.height - 1.5);
      }
      const name = v.region.region.at(-1) ?? "";
      if (lanes.height < 11 || wide < 16 || g.measureText(name).width + 6 > wide) continue;
      g.fillStyle = ink;
      g.fillText(name, a + 3, y + lanes.height / 2);
    }
  }
}

// visitAt is the band at a place of the rows.
export function visitAt({ view, from, to, side, rowHeight, visits, lanes }, { x, y }) {
  if (!visits || !lanes || x < left) return undefined;
  const row = Math.floor((y - top) / rowHeight);
  const rank = view.rows[row]?.[0];
  return visitIn(visits.ranks.get(rank), lanes, y - top - row * rowHeight, from + ((x - left) / side.width) * (to - from), (to - from) / side.width);
}

// visitIn is the band of a rank's threads at a height and a time, to within a pixel.
export function visitIn(tracks, lanes, y, time, pixel) {
  const lane = Math.floor(y / lanes.height);
  if (lane < 0 || lane >= lanes.count) return undefined;
  const track = tracks?.find((t) => t.first <= lane && lane < t.first + t.depth);
  const near = track?.visits.filter((v) => v.depth === lane - track.first && v.begin - pixel <= time && time <= v.end + pixel);
  return near?.find((v) => v.begin <= time && time <= v.end) ?? near?.[0];
}

// visitText says what a band is.
export function visitText(v, { from, to, view }) {
  const row = view.rows.find(([first]) => first === v.track.rank);
  const who = `rank ${v.track.rank}${row?.[2] > 1 ? ` of the ${row[2]} in its row` : ""}${v.track.thread ? `, thread ${v.track.thread}` : ""}`;
  const when = `from ${tickText(v.begin, to - from)}`;
  const name = `region ${regionPath(v.region)}`;
  const open = v.open ? ", not ended" : "";
  if (v.count === 1) return `${who}: ${name}, ${when}, took ${nanos(v.end - v.begin)}${open}`;
  return `${who}: ${v.mixed ? `${plural(v.count, "visit")} of regions, most of the time of ${name}` : `${plural(v.count, "visit")} of ${name}`}, ${when} to ${tickText(v.end, to - from)}, ${nanos(v.time)} in all${open}`;
}
