// One run, or one job that is being recorded: its name, its tabs, and the one that is
// shown.

import { useState } from "preact/hooks";
import { address, useCurrent, useEvents, useStored } from "./data.js";
import { Follow } from "./follow.jsx";
import { command } from "./format.js";
import { Wait } from "./parts.jsx";
import { link } from "./route.js";
import { selectionQuery } from "./selection.js";
import { tabs } from "./tabs.js";
import { Check } from "./views/check.jsx";
import { Diff } from "./views/diff.jsx";
import { Efficiency } from "./views/efficiency.jsx";
import { Flame } from "./views/flame.jsx";
import { Graph } from "./views/graph.jsx";
import { Imbalance } from "./views/imbalance.jsx";
import { Live } from "./views/live.jsx";
import { Loops } from "./views/loops.jsx";
import { Matrix } from "./views/matrix.jsx";
import { Phases } from "./views/phases.jsx";
import { Ranks } from "./views/ranks.jsx";
import { Selection, SiteDepth } from "./views/selection.jsx";
import { Source } from "./views/source.jsx";
import { reportOf, Summary } from "./views/summary.jsx";
import { Timeline } from "./views/timeline.jsx";
import { Waits } from "./views/waits.jsx";
import { WhatIf } from "./views/what-if.jsx";
import { Where } from "./views/where.jsx";

const views = {
  summary: Summary, waits: Waits, flame: Flame, efficiency: Efficiency, "what-if": WhatIf, imbalance: Imbalance, ranks: Ranks, matrix: Matrix, graph: Graph, timeline: Timeline,
  loops: Loops, phases: Phases, check: Check, diff: Diff, source: Source, where: Where,
};

// mostStreams is how many incomplete streams are listed.
const mostStreams = 500;

// Run looks first whether it is a job that goes on: its answers are others.
export function Run({ id, tab = "summary", query }) {
  const list = useCurrent(address(null, "", { search: id, limit: 20 }));
  const job = list.data?.jobs.find((j) => j.name === id);
  if (job) return <Job job={job} tab={tab} query={query} reload={list.reload} />;
  return <Stored id={id} tab={tab} query={query} />;
}

function Stored({ id, tab, query }) {
  const info = useStored(address(id, "", { streams: "incomplete", limit: mostStreams }));
  useStored(tab === "summary" ? reportOf(id) : undefined); // both at once
  const View = views[tab];
  return (
    <Wait on={info}>
      {(run) => (
        <>
          <p class="command" title={run.command?.join(" ")}>{command(run.command)}</p>
          <Tabs id={id} tab={tab} list={tabs} query={query} />
          <Selection id={id} run={run} query={query} tab={tab} />
          <SiteDepth run={run} query={query} tab={tab} />
          {View ? <View id={id} run={run} query={query} /> : <p class="problem">{`there is no view ${tab}`}</p>}
        </>
      )}
    </Wait>
  );
}

function Job({ job, tab, query, reload }) {
  const [stopped, setStopped] = useState(false);
  const pausing = { stopped, toggle: () => setStopped(!stopped) };
  // The list says when the job is none any more; in the summary frames do. A browser has few
  // connections to a server, and a stream takes one.
  useEvents(tab === "summary" ? undefined : "v1/events", ["runs"], (data) => {
    if (!JSON.parse(data).jobs.some((j) => j.name === job.name)) reload();
  });
  return (
    <>
      <p class="command">{command(job.command)}</p>
      <Tabs id={job.name} tab={tab} list={tabs} query={query} />
      {tab === "where" && <Where id={job.name} query={query} live />}
      {tab === "summary" && <Live id={job.name} job={job} query={query} pausing={pausing} ended={reload} />}
      {tab !== "where" && <SoFar key={tab} id={job.name} tab={tab} query={query} pausing={pausing} />}
    </>
  );
}

// SoFar shows a view of what is recorded so far.
function SoFar({ id, tab, query, pausing }) {
  const View = views[tab];
  if (!View) return <p class="problem">{`there is no view ${tab}`}</p>;
  return (
    <Follow pausing={pausing}>
      <Recorded id={id} View={View} tab={tab} query={query} />
    </Follow>
  );
}

function Recorded({ id, View, tab, query }) {
  const info = useStored(address(id, "", { streams: "none" }));
  return <Wait on={info}>{(run) => (
        <>
          <Selection id={id} run={run} query={query} />
          <SiteDepth run={run} query={query} tab={tab} />
          <View id={id} run={run} query={query} live />
        </>
      )}</Wait>;
}

function Tabs({ id, tab, list, query }) {
  const kept = selectionQuery(query);
  return (
    <nav class="tabs" aria-label="views">
      {list.map((t) => (
        <a key={t.name} href={link(["runs", id, t.name], kept)} data-tab={t.name} aria-current={t.name === tab ? "page" : undefined} title={`g ${t.key}`}>
          {t.name}
        </a>
      ))}
    </nav>
  );
}
