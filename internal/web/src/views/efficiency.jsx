// How well the run uses its processors, and when.

import { useStored } from "../data.js";
import { nanos } from "../format.js";
import { Note, Wait } from "../parts.jsx";
import { Stack } from "../stack.jsx";
import { Counters } from "./counters.jsx";
import { RegionParts } from "./regions.jsx";
import { efficiencyOf, isTraced, Tree, useFollowing } from "./why.jsx";

export function Efficiency({ id, run }) {
  const [follow, offer] = useFollowing(id, run);
  const known = run.time !== "off" && (!isTraced(run) || follow);
  const answer = useStored(known ? efficiencyOf(id, run) : undefined);
  if (run.time === "off") return <Note>No times were recorded.</Note>;
  return (
    <>
      {known ? <Wait on={answer}>{(e) => <Shown run={e.runs[0]} />}</Wait> : offer}
      <RegionParts id={id} />
      <Counters id={id} run={run} />
    </>
  );
}

function Shown({ run }) {
  return (
    <div data-ready="efficiency">
      <h2>Efficiency</h2>
      <Note>{`of ${nanos(run.time)} from MPI_Init to MPI_Finalize; rank ${run.useful.most_rank} computes longest, ${nanos(run.useful.most)}`}</Note>
      <Tree run={run} />
      {run.reason && <Note>{`Serialisation and transfer are not known: ${run.reason}`}</Note>}
      {run.windows?.length > 0 && (
        <>
          <h2>Over time</h2>
          <Stack
            label="time of all ranks over the time of the run" text={nanos} of={["computation", "mpi"]} names={{ mpi: "in MPI, with MPI_Init and MPI_Finalize" }}
            columns={run.windows.map((w) => ({ label: nanos(w.begin), parts: { computation: w.useful, mpi: Math.max(0, w.time * run.ranks - w.useful) } }))}
          />
        </>
      )}
    </div>
  );
}
