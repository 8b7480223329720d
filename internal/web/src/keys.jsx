// Keys: one listener for the whole page, and the list of them that ? shows.

import { useEffect, useRef } from "preact/hooks";
import { change, go, parse } from "./route.js";
import { nothingSelected, selectionQuery } from "./selection.js";
import { tabs } from "./tabs.js";
import { toggleTheme } from "./theme.js";

let prefix = 0; // when g was pressed

const inField = (e) => e.target.closest?.("input:not([type=radio]):not([type=checkbox]), select, textarea") !== null;

// listen begins to act on keys; what it returns ends that.
export function listen({ help }) {
  const pressed = (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || document.querySelector("dialog[open]")) return;
    if (inField(e)) {
      if (e.key === "Escape") e.target.blur();
      return;
    }
    if (act(e, help)) e.preventDefault();
  };
  addEventListener("keydown", pressed);
  return () => removeEventListener("keydown", pressed);
}

function act(e, help) {
  const second = Date.now() - prefix < 1500;
  prefix = 0;
  if (second) return jump(e.key);
  switch (e.key) {
    case "g":
      prefix = Date.now();
      return true;
    case "?":
      help(true);
      return true;
    case "/":
      document.querySelector("input[type=search]")?.focus();
      return true;
    case "x":
      change(nothingSelected);
      return true;
    case "D":
      toggleTheme();
      return true;
    case "j":
    case "k":
      return step(e.key === "j" ? 1 : -1);
    case "ArrowDown":
    case "ArrowUp":
      // Elsewhere these scroll the page.
      return document.activeElement === document.body && step(e.key === "ArrowDown" ? 1 : -1);
  }
  return /^[1-9]$/.test(e.key) && sentence(Number(e.key));
}

// sentence goes to the evidence of a sentence of the summary.
function sentence(n) {
  const place = document.querySelector(`.findings li:nth-child(${n}) a`);
  place?.click();
  return Boolean(place);
}

// jump goes to the list of runs or to a tab of the run.
function jump(key) {
  if (key === "r") {
    go([]);
    return true;
  }
  const at = parse(location.hash);
  const tab = tabs.find((t) => t.key === key);
  if (at.path[0] !== "runs" || !tab) return false;
  const shown = [...document.querySelectorAll("nav.tabs a")].some((a) => a.dataset.tab === tab.name);
  if (shown) go(["runs", at.path[1], tab.name], selectionQuery(at.query));
  return shown;
}

// step moves in the table that was used last, or the first one.
function step(n) {
  const table = document.activeElement?.closest("[data-table]") ?? document.querySelector("[data-table]");
  table?.step(n);
  return Boolean(table);
}

const list = [
  ["/", "search"],
  ["1 to 9", "in the summary: the evidence of that sentence"],
  ["x", "clear the selection"],
  ["j k, arrows", "up and down in a table; Enter opens"],
  ["g r", "all runs"],
  ...tabs.map((t) => [`g ${t.key}`, t.name]),
  ["+ −, arrows, 0", "in the timeline, the graph and the matrix: zoom, move, all of it"],
  ["w a s d", "in the timeline: zoom and move"],
  ["Enter, Backspace", "in the timeline: from a wait to what is waited for, and back"],
  ["Enter, shift arrows", "in the matrix: zoom to the cell, move the block"],
  ["shift D", "light or dark"],
  ["?", "this list"],
];

export function Help({ close }) {
  const dialog = useRef();
  useEffect(() => {
    dialog.current.showModal();
  }, []);
  return (
    <dialog ref={dialog} onClose={close} onClick={(e) => e.target === dialog.current && dialog.current.close()} aria-label="keys">
      <h2>Keys</h2>
      <dl class="keys">
        {list.map(([k, what]) => (
          <div key={k}>
            <dt><kbd>{k}</kbd></dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog"><button autofocus>close</button></form>
    </dialog>
  );
}
