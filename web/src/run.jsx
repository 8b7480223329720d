// One run, or one job that is being recorded: its name, its tabs, and the one that is
// shown.

import { address, useCurrent, useStored } from "./data.js";
import { command } from "./format.js";
import { Wait } from "./parts.jsx";
import { link } from "./route.js";
import { tabs } from "./tabs.js";
import { Check } from "./views/check.jsx";
import { Diff } from "./views/diff.jsx";
import { Graph } from "./views/graph.jsx";
import { Imbalance } from "./views/imbalance.jsx";
import { Live } from "./views/live.jsx";
import { Loops } from "./views/loops.jsx";
import { Matrix } from "./views/matrix.jsx";
import { Phases } from "./views/phases.jsx";
import { Ranks } from "./views/ranks.jsx";
import { reportOf, Summary } from "./views/summary.jsx";
import { Timeline } from "./views/timeline.jsx";
import { Where } from "./views/where.jsx";

const views = {
  summary: Summary, imbalance: Imbalance, ranks: Ranks, matrix: Matrix, graph: Graph, timeline: Timeline,
  loops: Loops, phases: Phases, check: Check, diff: Diff, where: Where,
};

// Run looks first whether it is a job that goes on: its answers are others.
export function Run({ id, tab = "summary", query }) {
  const list = useCurrent(address(null, "", { search: id, limit: 20 }));
  const job = list.data?.jobs.find((j) => j.name === id);
  if (job) return <Job job={job} tab={tab} query={query} reload={list.reload} />;
  return <Stored id={id} tab={tab} query={query} />;
}

function Stored({ id, tab, query }) {
  const info = useStored(address(id, "", { streams: "incomplete" }));
  useStored(tab === "summary" ? reportOf(id) : undefined); // both at once
  const View = views[tab];
  return (
    <Wait on={info}>
      {(run) => (
        <>
          <p class="command" title={run.command.join(" ")}>{command(run.command)}</p>
          <Tabs id={id} tab={tab} list={tabs.filter((t) => t.stored)} />
          {View ? <View id={id} run={run} query={query} /> : <p class="problem">{`there is no view ${tab}`}</p>}
        </>
      )}
    </Wait>
  );
}

function Job({ job, tab, query, reload }) {
  return (
    <>
      <p class="command">{command(job.command)}</p>
      <Tabs id={job.name} tab={tab} list={tabs.filter((t) => t.live)} />
      {tab === "where" ? <Where id={job.name} query={query} live /> : <Live id={job.name} job={job} query={query} ended={reload} />}
    </>
  );
}

function Tabs({ id, tab, list }) {
  return (
    <nav class="tabs" aria-label="views">
      {list.map((t) => (
        <a key={t.name} href={link(["runs", id, t.name])} data-tab={t.name} aria-current={t.name === tab ? "page" : undefined} title={`g ${t.key}`}>
          {t.name}
        </a>
      ))}
    </nav>
  );
}
