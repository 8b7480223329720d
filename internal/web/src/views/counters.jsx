// What hardware and kernel counted, at each callsite.

import { address, useStored } from "../data.js";
import { bytes, grouped, nanos } from "../format.js";
import { Note, Wait } from "../parts.jsx";
import { Table } from "../table.jsx";
import { opColumn, siteColumn } from "./columns.jsx";

export function Counters({ id, run }) {
  const counted = run.counters || run.energy;
  const answer = useStored(counted ? address(id, "counters") : undefined);
  if (!counted) return null;
  return <Wait on={answer}>{(c) => <Shown counters={c} />}</Wait>;
}

const valueText = (counter, v) => (counter.unit === "ns" ? nanos(v) : counter.unit === "KiB" ? bytes(v * 1024) : grouped(v));
const ratioText = (v) => (v == null ? "-" : v.toFixed(2));

function Shown({ counters: c }) {
  return (
    <div data-ready="counters">
      {c.counters.length > 0 && <Calls counters={c} />}
      {c.energy && <Energy energy={c.energy} />}
    </div>
  );
}

function Calls({ counters: c }) {
  return (
    <>
      <h2>Counters</h2>
      <Note>in calls, without MPI_Init and MPI_Finalize, and in the computation before them</Note>
      <Table name="counters" caption="counters" rows={c.counters} columns={totalColumns(c)} />
      <h2>Counters by callsite</h2>
      <Table
        name="counted" caption="counters by callsite" rows={c.rows} columns={callsiteColumns(c)}
        place={(r) => ({ at: [r] })} select={(r) => ({ op: r.op, site: r.site })}
      />
    </>
  );
}

const joules = (j) => (j >= 1e5 ? `${(j / 1e3).toFixed(1)} kJ` : `${j.toFixed(j < 100 ? 2 : 1)} J`);

function Energy({ energy: e }) {
  const number = (head, of, text) => ({ head, right: true, value: of, text: (z) => text(of(z)) });
  const name = (head, of) => ({ head, value: of, text: of });
  return (
    <>
      <h2>Energy</h2>
      <Note>{`of the machines while the command ran: ${joules(e.joules)}`}</Note>
      <Table
        name="energy" caption="energy" rows={e.zones}
        columns={[name("counter", (z) => z.zone), number("energy", (z) => z.joules, joules), number("power", (z) => z.watts, (w) => `${w.toFixed(1)} W`), number("time", (z) => z.seconds, (s) => `${s.toFixed(3)} s`), name("machine", (z) => z.host)]}
      />
    </>
  );
}

function totalColumns(c) {
  const reduced = (k) => [k.missing && `not in all threads of ${grouped(k.missing)} ranks`, k.multiplexed && `multiplexed in ${grouped(k.multiplexed)} ranks`].filter(Boolean).join(", ");
  const list = [
    { head: "counter", value: (k) => k.name, text: (k) => k.name },
    { head: "in calls", right: true, value: (k) => k.calls, text: (k) => valueText(k, k.calls) },
    { head: "before calls", right: true, value: (k) => k.before, text: (k) => valueText(k, k.before) },
    { head: "per µs of it", title: "before calls, per µs of the computation", right: true, value: (k) => k.before, text: (k) => (c.useful && !k.unit ? ((1000 * k.before) / c.useful).toPrecision(4) : "-") },
  ];
  if (c.ipc) {
    list.push({ head: "per cycle", title: "instructions per cycle of the computation", right: true, value: () => c.ipc.before, text: (k) => (k.name === "instructions" ? ratioText(c.ipc.before) : "") });
  }
  if (c.counters.some(reduced)) list.push({ head: "counted", value: reduced, text: reduced });
  return list;
}

function callsiteColumns(c) {
  const list = [siteColumn, opColumn, { head: "calls", right: true, value: (r) => r.events, text: (r) => grouped(r.events) }];
  c.counters.forEach((k, i) => {
    const column = (head, of) => ({ head, right: true, value: (r) => (r.values[i] ? of(r.values[i]).sum : -1), text: (r) => (r.values[i] ? valueText(k, of(r.values[i]).sum) : "-") });
    list.push(column(k.name, (v) => v.calls), column(`${k.name} before`, (v) => v.before));
  });
  if (c.ipc) {
    const column = (head, of) => ({ head, title: "instructions per cycle", right: true, value: (r) => of(r.ipc ?? {}) ?? -1, text: (r) => ratioText(of(r.ipc ?? {})) });
    list.push(column("IPC", (v) => v.calls), column("IPC before", (v) => v.before));
  }
  return list;
}
