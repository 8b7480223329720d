// How long the run would take under other conditions.

import { address, useStored } from "../data.js";
import { fixed, grouped, nanos, percent } from "../format.js";
import { Check, Note, TextField, Wait } from "../parts.jsx";
import { change } from "../route.js";
import { Table } from "../table.jsx";
import { isTraced, placeText, regionText, Tree } from "./why.jsx";

const asks = ["compute", "latency", "overhead", "bandwidth", "ideal", "balance"];

export function WhatIf({ id, run, query }) {
  if (!isTraced(run)) return <Note>The times of each call were not recorded: efg run records them, unless --time off or --time stats is given.</Note>;
  return <Asked id={id} query={query} />;
}

function Asked({ id, query }) {
  const on = (name) => query[name] === "1";
  const asked = { compute: query.compute, latency: query.latency, overhead: query.overhead, bandwidth: query.bandwidth, ideal: on("ideal") && "true", balance: on("balance") && "true" };
  const overview = useStored(address(id, "whatif"));
  const answer = useStored(asks.some((a) => asked[a]) ? address(id, "whatif", asked) : undefined);
  return (
    <>
      <h2>What if</h2>
      <div class="bar-tools">
        <TextField label="computation" name="compute" value={query.compute} hint="rank 3: 0.9 | site foo.c:88: 0.5" size={34} />
        <TextField label="latency" name="latency" value={query.latency} hint="1us" />
        <TextField label="overhead" name="overhead" value={query.overhead} hint="200ns" />
        <TextField label="bandwidth" name="bandwidth" value={query.bandwidth} hint="12GB/s" />
        <Check label="ideal network" name="ideal" on={on("ideal")} />
        <Check label="equal computation" name="balance" on={on("balance")} />
        <button type="button" onClick={() => change(Object.fromEntries(asks.map((a) => [a, ""])))}>as recorded</button>
      </div>
      {asks.some((a) => asked[a]) && <Wait on={answer}>{(w) => <Prediction whatif={w} then={w.asked} />}</Wait>}
      <Wait on={overview}>{(w) => <Overview whatif={w} />}</Wait>
    </>
  );
}

const gain = (then, recorded) => percent(then.time - recorded.time, recorded.time);

function Prediction({ whatif, then }) {
  return (
    <div data-ready="prediction">
      <p>
        It would take <b data-figure="predicted">{nanos(then.time)}</b> instead of {nanos(whatif.recorded.time)}: <b>{gain(then, whatif.recorded)}</b>
      </p>
      <div class="side-by-side">
        <div><h3>recorded</h3><Tree run={whatif.recorded} /></div>
        <div><h3>predicted</h3><Tree run={then} /></div>
      </div>
    </div>
  );
}

function Overview({ whatif }) {
  const { overview, recorded, network, modelled } = whatif;
  const rows = [
    { what: "an ideal network", set: { ideal: 1 }, then: overview.ideal },
    { what: "all ranks compute for equally long", set: { balance: 1 }, then: overview.balanced },
    ...overview.gains.map((g) => ({ what: `${regionText(g)}, a tenth less`, set: settings(g), on: g.on_path, then: g.then })),
  ];
  return (
    <div data-ready="what-if">
      <h2>What would shorten the run most</h2>
      <Table
        name="gains" caption="what would shorten the run most" rows={rows} open={(r) => r.set && change({ ...Object.fromEntries(asks.map((a) => [a, ""])), ...r.set })}
        columns={[
          { head: "if", value: (r) => r.what, text: (r) => r.what, most: 100 },
          { head: "time", right: true, value: (r) => r.then.time, text: (r) => nanos(r.then.time) },
          { head: "change", right: true, value: (r) => r.then.time, text: (r) => gain(r.then, recorded), bar: (r) => Math.max(0, 1 - r.then.time / recorded.time) },
          { head: "on critical path", right: true, value: (r) => r.on ?? -1, text: (r) => (r.on === undefined ? "-" : nanos(r.on)) },
        ]}
      />
      <Note>
        {`Recorded: ${nanos(recorded.time)}. Network as recorded: ${parameters(network)}, by ${grouped(network.messages)} messages that were waited for; with these alone the model gives ${nanos(modelled.time)}, ${fixed((100 * (modelled.time - recorded.time)) / recorded.time, 1)}%.`}
      </Note>
    </div>
  );
}

const parameters = (n) => [`latency ${nanos(n.latency)}`, `overhead ${nanos(n.overhead)}`, n.per_byte > 0 && `${fixed(1 / n.per_byte, 2)} GB/s`].filter(Boolean).join(", ");

// settings are those that shorten a region by a tenth, if a computation can be named by a callsite.
function settings(region) {
  if (region.kind !== "computation" || !region.at) return undefined;
  const site = placeText(region.at).split(" ").at(-1);
  return /^[^|]+$/.test(site) ? { compute: `site ${site}: 0.9` } : undefined;
}
