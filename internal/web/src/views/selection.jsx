// The selection: what is selected, where it can be seen, and how to let go of it.

import { onlyRun } from "../data.js";
import { Check, Choice } from "../parts.jsx";
import { change, link } from "../route.js";
import { nothingSelected, select, selectionIn, selectionQuery, words } from "../selection.js";
import { tabs } from "../tabs.js";
import { isTraced } from "./why.jsx";

// withoutSites are views that have no callsites, or those of single calls.
const withoutSites = ["imbalance", "ranks", "matrix", "timeline", "source", "where"];

const depths = [["1", "last call"], ["2", "2 calls"], ["3", "3"], ["5", "5"], ["0", "whole paths"]];

// SiteDepth chooses how call paths tell callsites apart. A flame graph has whole paths unless one chooses.
export function SiteDepth({ run, query, tab }) {
  if (!run.callPath || onlyRun || withoutSites.includes(tab)) return null;
  const values = tab === "flame" ? depths.toReversed() : depths;
  const now = query.paths ?? values[0][0];
  return <Choice label="callsites by" name="paths" value={now} values={[...values, ...(values.some(([v]) => v === now) ? [] : [[now, `${now} calls`]])]} />;
}

export function Selection({ id, run, query, tab }) {
  const selection = selectionIn(query);
  if (!selection.some) return null;
  const kept = selectionQuery(query);
  const rank = selection.rankRanges?.[0]?.[0];
  const to = [
    isTraced(run) && ["waits", {}],
    isTraced(run) && ["timeline", selection.span ? { from: selection.span[0], to: selection.span[1] } : {}],
    ["flame", {}],
    ["graph", { rank }],
    selection.site && ["source", {}],
    selection.region && ["phases", {}],
    selection.region && ["efficiency", {}],
    selection.rankRanges && ["matrix", {}],
  ].filter((l) => l && l[0] !== tab && tabs.some((t) => t.name === l[0]));
  return (
    <section class="selection" aria-label="selection">
      <b>Selected</b>
      {words(selection).map(([part, kind, text]) => (
        <button key={part} type="button" data-part={part} onClick={() => select({ [part]: "" })} title={`${kind} ${text}: click to let go of it`} aria-label={`let go of ${kind} ${text}`}>
          <span class="quiet">{kind}</span> {text} <span aria-hidden="true">✕</span>
        </button>
      ))}
      <Check label="only rows about it" name="s.only" on={selection.only} />
      <button type="button" class="plain" onClick={() => change(nothingSelected)} title="let go of all (x)">clear</button>
      <span class="see">
        see it in{" "}
        {to.map(([name, more], i) => (
          <span key={name}>{i > 0 && " · "}<a href={link(["runs", id, name], { ...more, ...kept })}>{name}</a></span>
        ))}
      </span>
    </section>
  );
}
