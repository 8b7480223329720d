// A flame graph: what places of the program cost, and how that differs from another run.

import { useMemo, useRef } from "preact/hooks";
import { address, onlyRun, useStored } from "../data.js";
import { change, differenceColour, find, inkOn, layout, read } from "../flame.js";
import { bytes, fixed, grouped, nanos, percent } from "../format.js";
import { Choice, Note, Search, useWidth, Wait } from "../parts.jsx";
import { change as changeAddress } from "../route.js";
import { isSelected, select, selectionIn } from "../selection.js";
import { Table, textFilter } from "../table.jsx";
import { useDark } from "../theme.js";
import { OtherRun } from "./diff.jsx";
import { isTraced } from "./why.jsx";

const rowHeight = 22;
const least = 2; // pixels of a node

// measures are what can be shown, and how it is written.
const measures = { time: ["time in MPI", nanos], waiting: ["waiting", nanos], delay: ["delay caused", nanos], bytes: ["bytes", bytes], calls: ["calls", grouped] };

export function Flame({ id, run, query }) {
  const timed = run.time !== "off";
  const there = Object.keys(measures).filter((m) => (m === "time" ? timed : ["bytes", "calls"].includes(m) || isTraced(run)));
  const of = there.includes(query.of) ? query.of : there[0];
  const answer = useStored(address(id, "flame", { of: of !== "time" && of, with: query.with }));
  return (
    <>
      <div class="bar-tools">
        <h2>Flame graph</h2>
        <Choice label="of" name="of" value={of} values={there.map((m) => [m, measures[m][0]])} />
        {!onlyRun && <OtherRun id={id} value={query.with} none="nothing" />}
        <Search value={query.q} label="find functions, lines, calls" />
      </div>
      <Wait on={answer}>{(a) => <Shown answer={a} query={query} write={measures[of][1]} />}</Wait>
    </>
  );
}

function Shown({ answer, query, write }) {
  const tree = useMemo(() => read(answer), [answer]);
  const top = find(tree, query.top);
  const matches = textFilter(query.q, (n) => `${n.name} ${n.op} ${n.site}`);
  const leaves = useMemo(() => tree.nodes.filter((n) => n.children.length === 0 && n.parent), [tree]);
  if (!tree.root.value) return <Note>There is nothing of it in this run.</Note>;
  const compared = answer.files.length > 1;
  const found = matches && tree.nodes.filter((n) => matches(n) && !above(n, matches)).reduce((s, n) => s + n.value, 0);
  return (
    <>
      <Note>
        {compared ? `${write(tree.root.values[0])} in this run, ${write(tree.root.values[1])} in the other: red is more there, blue is less; a place is as wide as the mean of both` : `in all ${write(tree.root.value)}`}
        {matches && `; found: ${percent(found, tree.root.value)}`}
        {". Arrows go from place to place, Enter or a click zooms in, Backspace or a click on what is above zooms out."}
      </Note>
      <Picture tree={tree} top={top} answer={answer} compared={compared} matches={matches} write={write} query={query} />
      <h2>Places</h2>
      <Table
        name="places" caption="places" rows={leaves} matches={matches} order="-cost"
        place={placeOf} select={(n) => ({ op: n.op || undefined, site: n.site || undefined })}
        columns={columns(tree, compared, write)}
      />
    </>
  );
}

// above reports whether what leads to a node matches.
function above(n, matches) {
  for (let p = n.parent; p?.parent; p = p.parent) if (matches(p)) return true;
  return false;
}

// placeOf says what a node is about: a procedure at a callsite, or a line.
const placeOf = (n) => (n.site ? { at: [{ site: n.site, ...(n.op ? { op: n.op } : {}) }] } : {});

function columns(tree, compared, write) {
  const share = (n) => n.value / tree.root.value;
  const cost = compared
    ? [
        { head: "this", right: true, value: (n) => n.values[0], text: (n) => write(n.values[0]) },
        { head: "other", right: true, value: (n) => n.values[1], text: (n) => write(n.values[1]) },
        { head: "cost", title: "by how much they differ", right: true, value: (n) => Math.abs(n.values[1] - n.values[0]), text: difference(write) },
      ]
    : [
        { head: "cost", right: true, value: (n) => n.value, text: (n) => write(n.value) },
        { head: "of all", right: true, value: (n) => n.value, text: (n) => percent(n.value, tree.root.value), bar: share },
      ];
  return [
    ...cost,
    { head: "call", value: (n) => n.name, text: (n) => n.name, most: 40 },
    { head: "callsite", value: (n) => n.site, text: (n) => n.site || "-", most: 70 },
  ];
}

const difference = (write) => (n) => {
  const d = n.values[1] - n.values[0];
  return `${d > 0 ? "+" : d < 0 ? "−" : ""}${write(Math.abs(d))}`;
};

function Picture({ tree, top, answer, compared, matches, write, query }) {
  const [box, width] = useWidth();
  const dark = useDark();
  const selection = selectionIn(query);
  const places = useMemo(() => (width ? layout(top, least / width) : []), [top, width]);
  const at = places.find((p) => String(p.node.number) === query.node) ?? places.find((p) => p.node === top);
  const list = useRef();
  const zoom = (node) => changeAddress({ top: node.path, node: node.number }, true);
  const go = (node) => {
    if (!node || !places.some((p) => p.node === node)) return;
    changeAddress({ node: node.number }, true);
  };
  const take = (node) => {
    if (node.site) select({ site: node.site, ...(node.op ? { op: node.op } : {}) });
  };
  const onKeyDown = (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || !at) return;
    const { node } = at;
    const beside = (by) => node.parent?.children[node.parent.children.indexOf(node) + by];
    const act = {
      ArrowDown: () => go(node.children[0]), ArrowUp: () => go(node.parent), ArrowLeft: () => go(beside(-1)), ArrowRight: () => go(beside(1)),
      Home: () => go(tree.root), Enter: () => (zoom(node), take(node)), " ": () => take(node), Backspace: () => zoom(top.parent ?? top), Escape: () => zoom(tree.root),
    }[e.key];
    if (!act) return;
    act();
    e.preventDefault();
    e.stopPropagation();
  };
  const deepest = Math.max(0, ...places.map((p) => p.node.depth));
  return (
    <>
      <div ref={box}>
        <div
          ref={list} class="flame" role="tree" tabIndex={0} aria-label="flame graph" aria-activedescendant={at && `flame-${at.node.number}`} data-ready={places.length ? "flame" : undefined}
          style={{ height: `${(deepest + 1) * rowHeight}px` }} onKeyDown={onKeyDown}
        >
          {places.map(({ node, x, wide }) => {
            const colour = compared ? differenceColour(change(node.values), dark) : colourOf(node, answer.colours, dark);
            const dim = matches && !matches(node) && !above(node, matches);
            const linked = isSelected(selection, placeOf(node));
            const text = words(node, tree, compared, write);
            return (
              <div
                key={node.number} id={`flame-${node.number}`} role="treeitem" aria-level={node.depth + 1} aria-selected={node === at?.node} aria-label={text} title={text}
                class={[node === at?.node && "at", dim && "dim", linked && "linked", wide * width < 24 && "narrow"].filter(Boolean).join(" ") || undefined}
                style={{ left: `${100 * x}%`, width: `${100 * wide}%`, top: `${node.depth * rowHeight}px`, background: colour, color: inkOn(colour) }}
                onClick={() => {
                  list.current.focus();
                  zoom(node);
                  take(node);
                }}
              >
                {wide * width >= 24 && (compared && node.parent ? `${change(node.values) > 0.005 ? "▲ " : change(node.values) < -0.005 ? "▼ " : ""}${label(node)}` : label(node))}
              </div>
            );
          })}
        </div>
      </div>
      <output class="hover" aria-live="polite">{at && words(at.node, tree, compared, write)}</output>
    </>
  );
}

const label = (node) => (node.parent ? node.name : "all");

function words(node, tree, compared, write) {
  const name = `${label(node)}${node.site && node.op ? `, ${node.site}` : ""}`;
  if (!compared) return `${name}: ${write(node.value)}, ${percent(node.value, tree.root.value)}`;
  const [a, b] = node.values;
  return `${name}: ${write(a)}, in the other run ${write(b)}${a ? ` (${b >= a ? "+" : "−"}${fixed((100 * Math.abs(b - a)) / a, 1)}%)` : ""}`;
}

// colourOf is the colour of a procedure, or a neutral one.
function colourOf(node, colours, dark) {
  if (node.kind === "computation") return dark ? "#2f78ad" : "#56a3d9";
  if (node.op && colours[node.op]) return colours[node.op];
  return { function: dark ? "#444c56" : "#d0d7de", file: dark ? "#373e47" : "#dfe4e9", line: dark ? "#525a65" : "#c3cad2" }[node.kind] ?? (dark ? "#2d333b" : "#eaeef2");
}
