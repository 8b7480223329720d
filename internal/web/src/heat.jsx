// A table of cells that are the darker the larger their number.

import { useRef, useState } from "preact/hooks";
import { css, heat } from "./colours.js";
import { Note } from "./parts.jsx";
import { useDark } from "./theme.js";

// Heat shows rows, each { label, title, values }, whose values belong to columns, each { label, title }. text
// writes a number; open(i, j) is called for a cell; marks(i, j) reports whether it is selected. Numbers of
// the legend are from 0 to most.
export function Heat({ name, caption, corner, rows, columns, text, open, marks }) {
  const dark = useDark();
  const [at, setAt] = useState();
  const box = useRef();
  const most = Math.max(1, ...rows.flatMap((r) => r.values));
  const step = labelStep(columns.length);
  const words = (i, j) => `${rows[i].title ?? rows[i].label}, ${columns[j].title ?? columns[j].label}: ${text(rows[i].values[j])}`;
  const move = (e) => {
    const by = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[e.key];
    if (by) {
      const [i, j] = at ?? [0, -1];
      const next = [Math.max(0, Math.min(rows.length - 1, i + by[0])), Math.max(0, Math.min(columns.length - 1, j + by[1]))];
      setAt(next);
      box.current.querySelector("tbody").rows[next[0]].cells[next[1] + 1].scrollIntoView({ block: "nearest", inline: "nearest" });
    } else if (e.key === "Enter" && at) open(...at);
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  const over = (e) => {
    const cell = e.target.closest?.("tbody td");
    return cell && [cell.parentElement.rowIndex - 1, cell.cellIndex - 1];
  };
  return (
    <>
      <div
        class="table" ref={box} tabIndex={0} role="region" aria-label={`${caption}; arrows go from cell to cell, Enter selects`} data-heat={name}
        onKeyDown={move} onMouseOver={(e) => setAt(over(e) ?? at)} onClick={(e) => over(e) && open(...over(e))}
      >
        <table class={rows.length > manyRows ? "heat small" : "heat"}>
          <thead>
            <tr>
              <th scope="col">{corner}</th>
              {columns.map((c, j) => <th key={j} scope="col" class="right" aria-label={c.title ?? c.label}>{j % step === 0 ? c.label : ""}</th>)}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, i) => (
              <tr key={i}>
                <th scope="row" title={row.title} aria-label={row.title}>{rows.length <= manyRows || i % 4 === 0 ? row.label : ""}</th>
                {row.values.map((v, j) => (
                  <td
                    key={j} aria-label={text(v)} title={words(i, j)} style={v ? { background: css(heat(v / most, dark)) } : undefined}
                    class={[at?.[0] === i && at[1] === j && "at", marks?.(i, j) && "linked"].filter(Boolean).join(" ") || undefined}
                  />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <ul class="legend wide" aria-label="colours">
        {[0.02, 0.25, 0.5, 0.75, 1].map((p) => (
          <li key={p}><span class="swatch" style={{ background: css(heat(p, dark)) }} />{text(Math.round(p * most))}</li>
        ))}
      </ul>
      <output class="hover" aria-live="polite">{at && at[0] < rows.length && at[1] < columns.length ? words(...at) : ""}</output>
    </>
  );
}

const manyRows = 32; // more are lower, and only some have labels

// labelStep is of how many columns one has a label.
const labelStep = (n) => (n <= 32 ? 1 : n <= 64 ? 4 : 8);

// Truncated says that only some are shown.
export const Truncated = ({ shown, of, what }) => (shown < of ? <Note>{`the ${shown} ${what} of ${of} that wait longest`}</Note> : null);
