// Tables of any length: only rows that can be seen are in the document.

import { useEffect, useLayoutEffect, useMemo, useState } from "preact/hooks";
import { Columns, hiddenIn } from "./columns-dialog.jsx";
import { grouped, shortenMiddle } from "./format.js";
import { useWidth } from "./parts.jsx";
import { change, useRoute } from "./route.js";
import { isSelected, selectionIn, selectOnly } from "./selection.js";

const rowHeight = 24;
const shortTable = 60; // rows that are all shown
const mostCharacters = 60; // of a column, unless it says others
const margin = 20; // rows above and below those that can be seen

// Table shows rows. A column has
//   head            its title
//   value(row)      what it is sorted by; a column without it cannot be sorted by
//   text(row)       what is shown, or cell(row) for elements
//   right           for numbers
//   bar(row)        0 to 1: the length of a bar behind the text
//   most            characters that it is wide at most
// place(row) says what a row is about (isSelected has its form): then rows about what is selected are
// marked. A click opens the row, or else selects select(row).
// The order is in the address, as sort (of the table's name); a minus in front turns it.
// Rows that the server orders are given as remote: { length, total, at(i), want(first, last) },
// and rows are some of them, to make the columns as wide as they need.
export function Table({ name, rows, columns: all, caption, order, matches, open, selected, rowTitle, remote, place, select }) {
  const { query } = useRoute();
  const key = `sort-${name}`;
  const hidden = hiddenIn(query, name);
  const columns = useMemo(() => all.filter((c) => !hidden.includes(c.head)), [all, hidden.join()]);
  const [choosing, setChoosing] = useState(false);
  const sort = query[key] ?? order ?? "";
  const selection = selectionIn(query);
  const about = place && selection.some ? (r) => isSelected(selection, place(r)) : undefined;
  const only = about && selection.only;
  const fits = only ? (r) => about(r) && (!matches || matches(r)) : matches;
  const arranged = useMemo(() => (remote ? [] : arrange(rows, columns, sort, fits)), [remote, rows, columns, sort, matches, only && JSON.stringify(selection)]);
  const shown = remote ?? { length: arranged.length, total: rows.length, at: (i) => arranged[i] };
  const [box, room] = useWidth();
  const wanted = useMemo(() => measure(rows, columns), [rows, columns]);
  const widths = useMemo(() => fitted(wanted, columns, room), [wanted, room]);
  const act = open ?? (select && ((r) => selectOnly(select(r), selection)));
  const [at, setAt] = useState(-1);
  const [scroll, setScroll] = useState(0);
  const long = shown.length > shortTable;
  useEffect(() => setAt(-1), [sort, matches === undefined]);

  const height = box.current?.clientHeight ?? 600;
  const first = long ? Math.max(0, Math.floor(scroll / rowHeight) - margin) : 0;
  const last = long ? Math.min(shown.length, Math.ceil((scroll + height) / rowHeight) + margin) : shown.length;

  useEffect(() => remote?.want(first, Math.max(first + 1, last)));

  const move = (to) => {
    if (!shown.length) return;
    const next = Math.max(0, Math.min(shown.length - 1, to));
    setAt(next);
    if (long) reveal(box.current, next);
    else box.current.querySelectorAll("tbody tr")[next]?.scrollIntoView({ block: "nearest" });
  };
  const onKeyDown = (e) => {
    const to = { ArrowDown: at + 1, j: at + 1, ArrowUp: at - 1, k: at - 1, PageDown: at + 20, PageUp: at - 20, Home: 0, End: shown.length - 1 }[e.key];
    if (to !== undefined) move(to);
    else if (e.key === "Enter" && act && shown.at(at)) act(shown.at(at));
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  useLayoutEffect(() => {
    box.current.step = (n) => {
      box.current.focus();
      move(at + n);
    };
  });

  const sortBy = (column) => {
    const turned = sort === column.head ? `-${column.head}` : column.head;
    const down = column.right && sort !== column.head && sort !== `-${column.head}`;
    change({ [key]: down ? `-${column.head}` : turned }, true);
  };
  return (
    <div
      class={long ? "table long" : "table"}
      ref={box}
      tabIndex={0}
      role="region"
      aria-label={caption}
      data-table={name}
      onScroll={(e) => long && setScroll(e.currentTarget.scrollTop)}
      onKeyDown={onKeyDown}
    >
      <table aria-rowcount={shown.length + 1}>
        <colgroup>
          {widths.map((w, i) => (
            <col key={i} style={{ width: `${w}ch` }} />
          ))}
          <col style={{ width: "2.6em" }} />
        </colgroup>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map((c) => (
              <Head key={c.head} column={c} sort={sort} onSort={sortBy} />
            ))}
            <td class="tools"><button type="button" class="plain" onClick={() => setChoosing(true)} title="columns, and copy as CSV" aria-label={`columns of ${caption}`}>⋯</button></td>
          </tr>
        </thead>
        <tbody>
          <Space rows={first} />
          {Array.from({ length: Math.max(0, last - first) }, (_, i) => first + i).map((i) => (
            <Row
              key={i} index={i} row={shown.at(i)} columns={columns} widths={widths} open={act} title={rowTitle} chosen={i === at || (shown.at(i) && selected?.(shown.at(i)))} linked={shown.at(i) && about?.(shown.at(i))}
              click={() => setAt(i)}
            />
          ))}
          <Space rows={shown.length - last} />
        </tbody>
      </table>
      {choosing && <Columns name={name} caption={caption} all={all} hidden={hidden} rows={rowsOf(shown)} close={() => setChoosing(false)} />}
      {shown.length < shown.total && <p class="note">{`${grouped(shown.length)} of ${grouped(shown.total)} rows match`}</p>}
    </div>
  );
}

// rowsOf are the rows that are there: of those that the server orders perhaps not all.
const rowsOf = (shown) => Array.from({ length: shown.length }, (_, i) => shown.at(i)).filter(Boolean);

// Row shows a row, or, as long as it is not there, that it is missing.
function Row({ index, row, columns, widths, open, title, chosen, linked, click }) {
  return (
    <tr
      aria-rowindex={index + 2} aria-selected={chosen ? true : undefined} class={[open && row && "opens", linked && "linked"].filter(Boolean).join(" ") || undefined} title={row && title?.(row)}
      onClick={() => {
        click();
        if (row) open?.(row);
      }}
    >
      {row ? columns.map((c, i) => <Cell key={c.head} column={c} row={row} most={charactersIn(widths[i])} />) : <td class="quiet" colSpan={columns.length}>…</td>}
    </tr>
  );
}

function Head({ column, sort, onSort }) {
  const arrow = { ascending: "▲", descending: "▼" };
  const state = sort === column.head ? "ascending" : sort === `-${column.head}` ? "descending" : undefined;
  return (
    <th scope="col" data-head={column.head} class={column.right ? "right" : undefined} aria-sort={state} title={column.title}>
      {column.value ? (
        <button type="button" onClick={() => onSort(column)}>
          {column.head}
          {state && <span class="arrow" aria-hidden="true">{arrow[state]}</span>}
        </button>
      ) : (
        column.head
      )}
    </th>
  );
}

function Cell({ column, row, most }) {
  const whole = column.text ? column.text(row) : undefined;
  const text = !column.right && typeof whole === "string" ? shortenMiddle(whole, most) : whole;
  const bar = column.bar?.(row);
  return (
    <td class={column.right ? "right" : undefined} title={typeof whole === "string" && whole.length > 12 ? whole : undefined}>
      {bar > 0 && <span class="bar" style={{ width: `${Math.min(100, 100 * bar)}%` }} aria-hidden="true" />}
      {column.cell ? column.cell(row) : <span>{text}</span>}
    </td>
  );
}

// Space stands for rows that are not in the document.
function Space({ rows }) {
  return rows > 0 ? <tr aria-hidden="true" class="space" style={{ height: `${rows * rowHeight}px` }} /> : null;
}

function reveal(box, row) {
  const head = box.querySelector("thead").offsetHeight;
  const top = row * rowHeight;
  if (top < box.scrollTop) box.scrollTop = top;
  else if (top + rowHeight + head > box.scrollTop + box.clientHeight) box.scrollTop = top + rowHeight + head - box.clientHeight;
}

function arrange(rows, columns, sort, matches) {
  const shown = matches ? rows.filter(matches) : rows.slice();
  const down = sort.startsWith("-");
  const column = columns.find((c) => c.value && c.head === (down ? sort.slice(1) : sort));
  if (!column) return shown;
  const sign = down ? -1 : 1;
  return shown.sort((a, b) => sign * compare(column.value(a), column.value(b)));
}

function compare(a, b) {
  if (a === b) return 0;
  if (a === undefined || a === null) return -1;
  if (b === undefined || b === null) return 1;
  return a < b ? -1 : 1;
}

// measure gives columns the width of their texts, of as many rows as are quick to look
// at.
function measure(rows, columns) {
  const step = Math.max(1, Math.floor(rows.length / 500));
  return columns.map((c) => {
    let width = c.head.length + 1;
    for (let i = 0; i < rows.length; i += step) {
      width = Math.max(width, c.width ? c.width(rows[i]) : (c.text?.(rows[i]) ?? "").length);
    }
    return widthOf(Math.min(width, c.most ?? mostCharacters));
  });
}

// widthOf is how wide a column for so many characters is, in ch, and charactersIn how many are in one.
const widthOf = (characters) => characters * 0.95 + 1.7;
const charactersIn = (width) => Math.round((width - 1.7) / 0.95);

// leastText is what a column of texts is narrowed to at most so that its table fits into the room.
const leastText = widthOf(20);

// fitted narrows columns of texts if the table is wider than the room, in pixels: of texts the middle is
// left out.
function fitted(widths, columns, room) {
  const excess = widths.reduce((a, b) => a + b, toolsWidth) - room / digitWidth();
  const spare = widths.map((w, i) => (columns[i].right ? 0 : Math.max(0, w - leastText)));
  const total = spare.reduce((a, b) => a + b, 0);
  if (room === 0 || excess <= 0 || total === 0) return widths;
  const part = Math.min(1, excess / total);
  return widths.map((w, i) => w - part * spare[i]);
}

const toolsWidth = 5; // of the column with the button, in ch

let digit = 0;

// digitWidth is what 1ch is in tables, in pixels.
function digitWidth() {
  if (!digit) {
    const g = new OffscreenCanvas(1, 1).getContext("2d");
    const { fontSize, fontFamily } = getComputedStyle(document.body);
    g.font = `${fontSize} ${fontFamily}`;
    digit = g.measureText("0").width || 8;
  }
  return digit;
}

// textFilter makes the condition that a row has all words of a text.
export function textFilter(text, textOf) {
  const words = (text ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return undefined;
  return (row) => {
    const all = textOf(row).toLowerCase();
    return words.every((w) => all.includes(w));
  };
}
