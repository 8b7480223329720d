// All runs compared: who loses most, what became slower, what scales.

import { useEffect, useRef } from "preact/hooks";
import { useCurrent } from "../data.js";
import { command, grouped, nanos, percent, plural } from "../format.js";
import { Note, NumberField, Wait } from "../parts.jsx";
import { link } from "../route.js";
import { Table } from "../table.jsx";

const usual = 10; // percent

export function Fleet({ query }) {
  const slower = Number(query.slower) > 0 ? query.slower : usual;
  const answer = useCurrent(`v1/fleet?slower=${encodeURIComponent(slower)}&top=0`);
  // Runs that were not read in time are read for the next answer, as long as there are fewer of them each time.
  const pending = answer.data?.pending;
  const before = useRef(Infinity);
  useEffect(() => {
    if (pending && pending < before.current) answer.reload();
    before.current = pending ?? Infinity;
  }, [answer.data]);
  return (
    <>
      <div class="bar-tools">
        <h1>Runs compared</h1>
        <NumberField label="slower by %" name="slower" value={slower} most={1000000} />
      </div>
      <Wait on={answer}>{(d) => <Shown fleet={d} />}</Wait>
    </>
  );
}

function Shown({ fleet: f }) {
  const most = Math.max(...f.programs.map((p) => p.elapsed), 1);
  return (
    <div data-ready={f.pending ? undefined : "fleet"}>
      <Note>{[`${plural(f.runs, "run")} of ${plural(f.programs.length, "program")}`, f.untimed && `no times of ${grouped(f.untimed)}`, f.pending && `${grouped(f.pending)} are still to be read`].filter(Boolean).join("; ")}</Note>
      {f.unread.map((u) => (
        <p key={u.file} class="problem">{`left out: ${u.file}: ${u.error}`}</p>
      ))}
      <h2>Programs</h2>
      <Table name="programs" caption="programs" rows={f.programs} columns={usesColumns("program", most)} order="-lost" />
      <h2>Users</h2>
      <Table name="users" caption="users" rows={f.users} columns={usesColumns("user", most)} order="-lost" />
      <h2>Slower than the runs before</h2>
      {f.slower.length ? <Table name="slower" caption="slower runs" rows={f.slower} columns={slowerColumns} /> : <Note>none</Note>}
      {f.scaling.length > 0 && <h2>Scaling</h2>}
      {f.scaling.length > 0 && <Table name="scaling" caption="scaling" rows={f.scaling.flatMap(pointsOf)} columns={scalingColumns} />}
    </div>
  );
}

// unitFor is the unit for times of processors up to one.
const unitFor = (most) => (most < 360e9 ? ["core-seconds", 1e9] : ["core-hours", 3.6e12]);

const number = (v) => (v >= 100 ? grouped(v) : v.toPrecision(3));

function usesColumns(head, most) {
  const [unit, ns] = unitFor(most);
  const time = (name, of, title) => ({ head: name, title, right: true, value: (u) => of(u) ?? -1, text: (u) => (u.timed && of(u) !== null ? number(of(u) / ns) : "-") });
  return [
    { head, value: (u) => u.name, text: (u) => u.name, most: 48 },
    { head: "runs", right: true, value: (u) => u.runs, text: (u) => grouped(u.runs) },
    { head: "ranks", title: "of the largest run", right: true, value: (u) => u.ranks, text: (u) => grouped(u.ranks) },
    time(unit, (u) => u.elapsed),
    time("in MPI", (u) => u.mpi),
    time("waiting", (u) => u.waiting, "for other ranks, of runs with the times of each call"),
    time("lost", (u) => u.lost, "waiting or, if that is unknown, in MPI"),
    { head: "of all", right: true, value: (u) => (u.elapsed ? u.lost / u.elapsed : -1), text: (u) => (u.timed ? percent(u.lost, u.elapsed) : "-"), bar: (u) => (u.elapsed ? u.lost / u.elapsed : 0) },
  ];
}

const whereText = (c) => [
  c.compute > 0 && `${nanos(c.compute)} more outside of MPI`,
  ...c.sites.map((s) => `${nanos(s.after - s.before)} more in ${s.op} ${s.site}`),
].filter(Boolean).join("; ");

const slowerColumns = [
  { head: "run", value: (c) => c.run.run, text: (c) => c.run.run, cell: (c) => <a href={link(["runs", c.run.run])}>{c.run.run}</a>, most: 40 },
  { head: "than", value: (c) => c.before.run, text: (c) => c.before.run, cell: (c) => <a href={link(["runs", c.run.run, "diff"], { with: c.before.run })} title="what differs">{c.before.run}</a>, most: 40 },
  { head: "by", right: true, value: (c) => c.percent, text: (c) => `${Math.round(c.percent)}%` },
  { head: "time", right: true, value: (c) => c.run.time, text: (c) => nanos(c.run.time) },
  { head: "before", right: true, value: (c) => c.before.time, text: (c) => nanos(c.before.time) },
  { head: "ranks", right: true, value: (c) => c.ranks, text: (c) => grouped(c.ranks) },
  { head: "user", value: (c) => c.user, text: (c) => c.user },
  { head: "built anew", value: (c) => (c.rebuilt ? 1 : 0), text: (c) => (c.rebuilt ? "yes" : "") },
  { head: "for each rank", value: whereText, text: whereText, most: 90 },
  { head: "command", value: (c) => command([c.program, ...c.arguments]), text: (c) => command([c.program, ...c.arguments]), most: 40 },
];

// pointsOf are the rows of a program, with what it did with the fewest ranks.
const pointsOf = (s) => s.points.map((p) => ({ ...p, program: s.program, speedup: s.points[0].time / Math.max(1, p.time), least: s.points[0].ranks }));

const scalingColumns = [
  { head: "program", value: (p) => p.program, text: (p) => p.program, most: 48 },
  { head: "ranks", right: true, value: (p) => p.ranks, text: (p) => grouped(p.ranks) },
  { head: "runs", right: true, value: (p) => p.runs, text: (p) => grouped(p.runs) },
  { head: "time", title: "of the slowest rank: the median", right: true, value: (p) => p.time, text: (p) => nanos(p.time) },
  { head: "outside MPI", right: true, value: (p) => p.outside, text: (p) => percent(p.outside, 1) },
  { head: "waiting", right: true, value: (p) => p.waiting ?? -1, text: (p) => (p.waiting === null ? "-" : percent(p.waiting, 1)) },
  { head: "speedup", right: true, value: (p) => p.speedup, text: (p) => p.speedup.toFixed(2) },
  { head: "per rank", right: true, value: (p) => (p.speedup * p.least) / p.ranks, text: (p) => ((p.speedup * p.least) / p.ranks).toFixed(2) },
];
