// A job that goes on: what its ranks are doing, again each second, unless updates are paused.

import { useEffect, useRef, useState } from "preact/hooks";
import { address, parse, useCurrent, useEvents } from "../data.js";
import { Pause } from "../follow.jsx";
import { grouped, percent, plural, rate, seconds } from "../format.js";
import { Facts, Note, Search } from "../parts.jsx";
import { Table, textFilter } from "../table.jsx";
import { JobState } from "./where.jsx";

const lookEvery = 5000; // ms between roll-calls

export function Live({ id, job, query, pausing, ended }) {
  const [frame, setFrame] = useState();
  const [over, setOver] = useState(false);
  const open = useEvents(over ? undefined : address(id, "live"), ["frame", "end"], (data, kind) => {
    if (kind === "frame") return (!pausing.stopped || !frame) && setFrame(parse(data));
    setOver(true);
    ended();
  });
  useReload(over, ended);
  return (
    <div data-ready={frame ? "live" : undefined}>
      <p class="note">
        <span class={open && !pausing.stopped ? "dot on" : "dot"} />{" "}
        {over ? "the job has ended; it is being stored" : pausing.stopped ? "paused" : open ? "live" : `not connected; ${grouped(job.running)} of ${plural(job.processes, "rank")} running`}{" "}
        {!over && <Pause pausing={pausing} />}
      </p>
      {!over && <Now id={id} stopped={pausing.stopped} />}
      {frame && <Frame frame={frame} query={query} />}
    </div>
  );
}

// useReload asks again, until the job that is over is a run.
function useReload(over, reload) {
  const latest = useRef(reload);
  latest.current = reload;
  useEffect(() => {
    if (!over) return;
    const t = setInterval(() => latest.current(), 500);
    return () => clearInterval(t);
  }, [over]);
}

// Now polls the job's state: which calls its ranks are in, whom they wait for, and whether the job
// cannot go on.
function Now({ id, stopped }) {
  const where = useCurrent(address(id, "where", { groups: true }));
  useEffect(() => {
    if (stopped) return;
    const t = setTimeout(where.reload, lookEvery);
    return () => clearTimeout(t);
  }, [where.data, where.error, stopped]);
  if (!where.data) return null;
  return (
    <div data-ready="now">
      <h2>What the ranks wait for</h2>
      <JobState where={where.data} />
    </div>
  );
}

function Frame({ frame, query }) {
  const running = frame.ranks.filter((r) => r.running).length;
  const share = (v) => (frame.timed ? percent(v, 1) : "-");
  return (
    <>
      <h2>Now</h2>
      <Facts
        list={[
          ["ranks", `${grouped(running)} of ${grouped(frame.ranks.length)} running`],
          ["events", <span key="e" data-figure="events">{grouped(frame.events)}</span>],
          ["per second", rate(frame.rate)],
          ["MPI", frame.timed ? `${percent(frame.inMPI, 1)} of the time of all threads` : undefined],
        ]}
      />
      <div class="bar-tools">
        <h2>Ranks</h2>
        <Search value={query.q} label="filter ranks and callsites" />
      </div>
      <Table
        name="live-ranks" caption="ranks now" rows={frame.ranks} matches={textFilter(query.q, (r) => `${r.rank} ${r.op ?? ""} ${r.last ?? ""} ${r.site ?? ""} ${r.host}`)}
        columns={[
          { head: "rank", right: true, value: (r) => r.rank, text: (r) => String(r.rank) },
          { head: "events", right: true, value: (r) => r.events, text: (r) => grouped(r.events) },
          { head: "events/s", right: true, value: (r) => r.rate, text: (r) => rate(r.rate) },
          { head: "MPI", right: true, value: (r) => r.inMPI, text: (r) => share(r.inMPI), bar: (r) => r.inMPI },
          { head: "for", right: true, value: (r) => r.seconds, text: (r) => seconds(r.seconds) },
          { head: "doing", value: doing, text: doing },
          { head: "at", value: (r) => r.site, text: (r) => r.site ?? "" },
        ]}
      />
      <h2>Callsites</h2>
      {frame.callsites.length === 0 && <Note>No calls returned since the last update.</Note>}
      {frame.callsites.length > 0 && (
        <Table
          name="live-calls" caption="callsites since the last update" rows={frame.callsites} matches={textFilter(query.q, (c) => `${c.op} ${c.site}`)}
          columns={[
            { head: "callsite", value: (c) => c.site, text: (c) => c.site },
            { head: "procedure", value: (c) => c.op, text: (c) => c.op },
            { head: "ranks", right: true, value: (c) => c.ranks, text: (c) => grouped(c.ranks) },
            { head: "calls/s", right: true, value: (c) => c.rate, text: (c) => rate(c.rate) },
            { head: "MPI", right: true, value: (c) => c.inMPI, text: (c) => share(c.inMPI), bar: (c) => c.inMPI },
            { head: "mean", right: true, value: (c) => c.mean, text: (c) => (c.mean ? seconds(c.mean) : "-") },
          ]}
        />
      )}
    </>
  );
}

function doing(r) {
  if (!r.running) return "has ended";
  if (r.op) return r.op;
  return r.last ? `computing, after ${r.last}` : "no call yet";
}
