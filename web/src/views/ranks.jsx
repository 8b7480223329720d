// A row for each rank. The server orders and selects; the page has only the rows that can
// be seen, and those next to them.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { address, useStored } from "../data.js";
import { grouped, nanos, percent, plural } from "../format.js";
import { Note, Problem, Search, Wait } from "../parts.jsx";
import { go } from "../route.js";
import { Paged } from "../table.jsx";
import { distributionColumns, volumeColumns } from "./columns.jsx";

const pageRows = 200;

export function Ranks({ id, query }) {
  const rank = rankText(query.q);
  const order = query["sort-ranks"] ?? "rank";
  const wanted = (from) => address(id, "ranks", { rank, order: orders[order.replace(/^-/, "")] ? order.replace(/[^-].*/, "") + orders[order.replace(/^-/, "")] : "rank", from, count: pageRows });
  return (
    <>
      <div class="bar-tools">
        <h2>Ranks</h2>
        <Search value={query.q} label="ranks, as 0-15,32" />
      </div>
      {rank === undefined ? <Note>No ranks: want numbers and ranges, as 0-15,32.</Note> : <Rows id={id} wanted={wanted} />}
    </>
  );
}
