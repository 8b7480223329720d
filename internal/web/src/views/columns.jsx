// Columns that several tables have.

import { byteCell, bytes, grouped, nanos, percent } from "../format.js";

export const timeOf = (r) => r.time?.sum ?? 0;
// timeOrder sorts rows by time: those that are apart after all others.
const timeOrder = (r) => (r.apart ? -1 / (1 + timeOf(r)) : timeOf(r));
export const meanOf = (r) => (r.time?.count ? r.time.sum / r.time.count : 0);
// ofTimes writes a duration of a row that has any: 0 ns is one, too.
const ofTimes = (of) => (r) => (r.time?.count ? nanos(of(r)) : "-");

// rowColumns are those of the rows of a report: calls, times, bytes. Only those with
// something in them are there.
export function rowColumns(rows, timed, total) {
  const list = [{ head: "calls", right: true, value: (r) => r.calls, text: (r) => grouped(r.calls) }];
  if (timed) {
    const most = Math.max(1, ...rows.slice(0, 1000).filter((r) => !r.apart).map(timeOf));
    list.push(
      { head: "time", right: true, value: timeOrder, text: ofTimes(timeOf) },
      { head: "%MPI", title: "part of the time in MPI; MPI_Init and MPI_Finalize are apart", right: true, value: timeOrder, text: (r) => (r.apart ? "apart" : percent(timeOf(r), total)), bar: (r) => (r.apart ? 0 : timeOf(r) / most) },
      { head: "mean", right: true, value: meanOf, text: ofTimes(meanOf) },
      { head: "min", right: true, value: (r) => r.time?.min, text: ofTimes((r) => r.time.min) },
      { head: "max", right: true, value: (r) => r.time?.max, text: ofTimes((r) => r.time.max) },
    );
  }
  return [...list, ...volumeColumns(rows)];
}

// volumeColumns are bytes and errors, where there are any.
export function volumeColumns(rows) {
  const list = [];
  for (const key of ["sent", "received", "read", "written"]) {
    if (rows.some((r) => r[key])) list.push({ head: key, right: true, value: (r) => r[key], text: (r) => byteCell(r[key]) });
  }
  if (rows.some((r) => r.sent)) {
    const per = (r) => (r.calls ? r.sent / r.calls : 0);
    list.push({ head: "per call", title: "bytes sent by a call on average", right: true, value: per, text: (r) => (per(r) ? bytes(per(r)) : "-") });
  }
  if (rows.some((r) => r.errors)) list.push({ head: "errors", right: true, value: (r) => r.errors, text: (r) => (r.errors ? grouped(r.errors) : "-") });
  return list;
}

export const opColumn = { head: "procedure", value: (r) => r.op, text: (r) => r.op };
export const siteColumn = { head: "callsite", value: (r) => r.site, text: (r) => r.site || "-", most: 48 };
export const ranksColumn = { head: "ranks", title: "ranks that make the call", right: true, value: (r) => r.ranks, text: (r) => grouped(r.ranks) };
