// The regions that the program names, in the timeline: the band above the rows, colours, and a table.

import { useEffect, useMemo, useRef } from "preact/hooks";
import { address, parse, useStoredParts } from "../data.js";
import { grouped, nanos } from "../format.js";
import { Note } from "../parts.jsx";
import { select } from "../selection.js";
import { Table } from "../table.jsx";
import { left } from "../timeline-draw.js";
import { drawTracks, readVisits, regionPath, stripLanes, visitIn, visitText } from "../timeline-regions.js";
import { regionAbout, regionCell, regionName, regionSelected } from "./regions.jsx";

const most = 20_000; // visits that are asked for
const depth = 8; // of regions in each other
const inLegend = 16;

const decode = (data) => parse(new TextDecoder().decode(data));

// useVisits gives the visits in the part of the time that a view shows. As long as the answer is not
// complete it is asked for again: the server goes on where it ended.
export function useVisits(id, view, query, clock) {
  const url = view && address(id, "timeline/regions", { from: view.from, to: view.to, width: view.width, depth, most, clock, ...query });
  const answer = useStoredParts(url, decode, (v) => v.complete);
  useEffect(() => {
    if (answer.data && !answer.data.complete) answer.reload();
  }, [answer.data]);
  return useMemo(() => readVisits(answer.last), [answer.last]);
}

// Strip shows the regions of one rank above the rows: that which was chosen, or the first.
export function Strip({ state, setText }) {
  const canvas = useRef();
  const { from, to, side, visits, chosen, selection } = state;
  const shown = [chosen.at(-1)?.rank, selection.rankRanges?.[0]?.[0], ...visits.ranks.keys()].find((r) => visits.ranks.has(r));
  const lanes = stripLanes(visits);
  const height = lanes.count * lanes.height + 2;
  useEffect(() => {
    const c = canvas.current;
    const scale = devicePixelRatio;
    c.width = Math.round((left + side.width + 4) * scale);
    c.height = Math.round(height * scale);
    const g = c.getContext("2d");
    g.scale(scale, scale);
    const style = getComputedStyle(document.documentElement);
    drawTracks(g, style, state, visits.ranks.get(shown), lanes, 0, side.width / (to - from));
    g.fillStyle = style.getPropertyValue("--quiet");
    g.font = "11px system-ui, sans-serif";
    g.textAlign = "right";
    g.fillText(`rank ${shown}`, left - 8, height / 2);
  });
  const at = (e) => visitIn(visits.ranks.get(shown), lanes, e.offsetY, from + ((e.offsetX - left) / side.width) * (to - from), (to - from) / side.width);
  const show = (e) => {
    const v = at(e);
    setText(v ? visitText(v, state) : undefined);
  };
  const choose = (e) => {
    const v = at(e);
    if (v) select({ region: regionPath(v.region) });
  };
  return (
    <canvas
      ref={canvas} class="strip" role="img" data-strip={shown} style={{ width: `${left + side.width + 4}px`, height: `${height}px` }} aria-label={`regions of rank ${shown}; the table has those of all`}
      onPointerMove={show} onPointerLeave={() => setText(undefined)} onClick={choose}
    />
  );
}

// Regions lists those in view: their colours by name, and each with the regions around it.
export function Regions({ visits }) {
  const rows = useMemo(() => visits.regions.toSorted((a, b) => regionPath(a).localeCompare(regionPath(b))).map((r, row) => ({ ...r, row })), [visits]);
  const names = new Map(visits.regions.map((r) => [r.region.at(-1), r.colour]));
  const longest = Math.max(1, ...rows.map((r) => r.time));
  const columns = [
    { head: "region", value: (r) => r.row, text: regionName, cell: regionCell },
    { head: "visits", right: true, value: (r) => r.visits, text: (r) => grouped(r.visits) },
    { head: "time", title: "in view, summed over the threads that are shown", right: true, value: (r) => r.time, text: (r) => nanos(r.time), bar: (r) => r.time / longest },
    { head: "per visit", right: true, value: (r) => r.time / r.visits, text: (r) => nanos(r.time / r.visits) },
  ];
  return (
    <div data-ready={visits.complete ? "timeline-regions" : undefined}>
      <ul class="legend wide regions" aria-label="colours of regions">
        {[...names].slice(0, inLegend).map(([name, colour]) => (
          <li key={name}><span class="swatch" style={{ background: colour }} />{name}</li>
        ))}
      </ul>
      <h2>Regions in view</h2>
      <Note>{visits.complete ? "that the program names; each includes those in it" : "the rest is being looked at …"}</Note>
      <Table name="timeline-regions" caption="regions in view" rows={rows} columns={columns} place={regionAbout} select={regionSelected} />
    </div>
  );
}
