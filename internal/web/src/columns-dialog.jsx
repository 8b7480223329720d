// Which columns a table has, and its rows as CSV.

import { useEffect, useRef, useState } from "preact/hooks";
import { grouped, plural } from "./format.js";
import { change } from "./route.js";

const key = (name) => `hide-${name}`;
const separator = "|";

// hiddenIn are the heads of columns that the user has hidden, as the address has them.
export const hiddenIn = (query, name) => (query[key(name)] ?? "").split(separator).filter(Boolean);

// Columns is the dialog of a table. all are its columns, rows those that can be copied.
export function Columns({ name, caption, all, hidden, rows, close }) {
  const dialog = useRef();
  const [copied, setCopied] = useState("");
  useEffect(() => dialog.current.showModal(), []);
  const toggle = (head) => {
    const next = hidden.includes(head) ? hidden.filter((h) => h !== head) : [...hidden, head];
    if (next.length < all.length) change({ [key(name)]: next.join(separator) }, true);
  };
  const copy = async () => {
    const text = csv(all.filter((c) => !hidden.includes(c.head)), rows);
    setCopied((await put(text, dialog.current)) ? `${plural(rows.length, "row")} copied` : "The browser does not let the page copy.");
  };
  return (
    <dialog ref={dialog} onClose={close} onClick={(e) => e.target === dialog.current && dialog.current.close()} aria-label={`columns of ${caption}`}>
      <h2>{`Columns of ${caption}`}</h2>
      <ul class="columns">
        {all.map((c) => (
          <li key={c.head}>
            <label><input type="checkbox" checked={!hidden.includes(c.head)} onChange={() => toggle(c.head)} /> {c.head} {c.title && <span class="quiet">{c.title}</span>}</label>
          </li>
        ))}
      </ul>
      <p>
        <button type="button" onClick={copy}>{`copy ${grouped(rows.length)} rows as CSV`}</button>{" "}
        <button type="button" onClick={() => dialog.current.close()}>close</button>{" "}
        <output>{copied}</output>
      </p>
    </dialog>
  );
}

const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);

// csv writes rows as RFC 4180 has it. Texts that a spreadsheet would calculate are not to be: programs have
// chosen them.
export function csv(columns, rows) {
  const shown = columns.filter((c) => c.text);
  const cell = (c, row) => {
    const text = (c.text(row) ?? "").trim();
    return quoted(/^[=@+\t]|^-(?![\d.]|$)/.test(text) ? `'${text}` : text);
  };
  return [shown.map((c) => quoted(c.head)), ...rows.map((row) => shown.map((c) => cell(c, row)))].map((line) => `${line.join(",")}\r\n`).join("");
}

// put puts a text on the clipboard, also where the page is not trusted with it.
async function put(text, within) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = within.appendChild(document.createElement("textarea"));
    field.value = text;
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    return done;
  }
}
