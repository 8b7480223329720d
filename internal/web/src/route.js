// Where in the page we are: all of it is in the part of the address behind #, as a path
// and a query, so that every view can be linked to and Back works.

import { useEffect, useState } from "preact/hooks";

// parse reads "#/runs/ID/matrix?measure=messages".
export function parse(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  return {
    path: path.split("/").filter(Boolean).map(decode),
    query: Object.fromEntries(new URLSearchParams(query)),
  };
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // typed by hand
  }
}

// siteDepth is by how many calls of their call paths callsites are told apart, 0: whole paths; nothing if the
// address does not say.
export const siteDepth = () => parse(location.hash).query.paths?.match(/^\d{1,4}$/)?.[0];

// link makes the address of a view. What is undefined, "" or false in the query is left
// out.
export function link(path, query = {}) {
  const params = new URLSearchParams();
  for (const [k, v] of Object.entries(query)) {
    if (v !== undefined && v !== "" && v !== false) params.set(k, v === true ? "1" : String(v));
  }
  const text = params.toString();
  return `#/${path.map(encodeURIComponent).join("/")}${text ? `?${text}` : ""}`;
}

export function go(path, query, replace = false) {
  const to = link(path, query);
  if (to === location.hash) return;
  if (replace) {
    history.replaceState(null, "", to);
    dispatchEvent(new HashChangeEvent("hashchange"));
  } else {
    location.hash = to;
  }
}

// useRoute is the current place.
export function useRoute() {
  const [hash, set] = useState(location.hash);
  useEffect(() => {
    const changed = () => set(location.hash);
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return parse(hash);
}

// change replaces parts of the query of the current place. Steps of zooming and typing
// replace the entry of the history instead of adding one.
export function change(query, replace = false) {
  const at = parse(location.hash);
  go(at.path, { ...at.query, ...query }, replace);
}
