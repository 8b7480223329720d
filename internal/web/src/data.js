// What the page asks the server.

import { createContext } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import { siteDepth } from "./route.js";

// Following is what views of a job that goes on stand in: { turn, noted(note) }. When turn
// changes they ask again; noted is told of each answer. Views of stored runs have none.
export const Following = createContext(null);

// Failure is an answer that is an error, with the server's words.
export class Failure extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

// bundled is what a page that opens without a server holds: the run's name, and answers as
// base64 of gzip, by request.
const bundled = JSON.parse(document.getElementById("efg-answers")?.textContent ?? "null");

// onlyRun is the run that such a page shows.
export const onlyRun = bundled?.run;

const missing = "this page holds only what was written into it; efg view shows all of the run";

// bundledAnswer finds the answer. Of a timeline there is one of all ranks and all of the time,
// whatever part of the time is asked for.
async function bundledAnswer(url) {
  const [path, query] = url.split("?");
  const whole = path === "v1/runs" || (/\/(timeline|flows|timeline\/regions)$/.test(path) && !new URLSearchParams(query).has("ranks"));
  const same = (request) => request === url || (whole && request.split("?")[0] === path);
  const request = Object.keys(bundled.answers).find(same);
  if (!request) throw new Failure(404, missing);
  const data = Uint8Array.from(atob(bundled.answers[request]), (c) => c.charCodeAt(0));
  return new Response(new Blob([data]).stream().pipeThrough(new DecompressionStream("gzip")));
}

async function answer(url, signal) {
  if (bundled) return bundledAnswer(url);
  let r;
  try {
    r = await fetch(url, { signal });
  } catch (e) {
    if (e.name === "AbortError") throw e;
    throw new Failure(0, "the server does not answer");
  }
  if (r.ok) return r;
  let text = `${r.status} ${r.statusText}`;
  try {
    text = (await r.json()).error ?? text;
  } catch {
    // An answer of something in between.
  }
  throw new Failure(r.status, text);
}

// What cannot be seen, or turns the direction of what follows, as it stands in JSON.
const hidden = /[^\P{C}\n\t]|[\u2028\u2029]|\\[bfnrt]|\\u/u;
const hiddenInText = /[\p{C}\u2028\u2029]/gu;

const escaped = (c) => (c === "\n" ? "\\n" : c === "\t" ? "\\t" : `\\u{${c.codePointAt(0).toString(16)}}`);

const visibleLine = (text) => text.split("\t").map(visible).join("\t");

function visible(x) {
  if (typeof x === "string") return x.replace(hiddenInText, escaped);
  if (Array.isArray(x)) return x.map(visible);
  if (x === null || typeof x !== "object") return x;
  // Names are asked with; lines of a source have tabs.
  return Object.fromEntries(Object.entries(x).map(([k, v]) => [k, k === "name" ? v : k === "lines" ? v.map(visibleLine) : visible(v)]));
}

// parse reads a document. Its texts come from programs: what would be hidden is escaped.
export function parse(text) {
  const document = JSON.parse(text);
  return hidden.test(text) ? visible(document) : document;
}

const asJSON = async (r) => parse(await r.text());

// kept holds the last answers about stored runs, which do not change, by address.
const kept = new Map();
const mostKept = 24;

function keep(url, data) {
  kept.delete(url);
  kept.set(url, data);
  if (kept.size > mostKept) kept.delete(kept.keys().next().value);
}

// asked are questions without an answer yet, by address. Those about stored runs are asked
// once, however many want to know; when no one does any more the server is told to stop.
const asked = new Map();

function ask(url, decode, lasting, complete = () => true) {
  const same = lasting && asked.get(url);
  if (same) {
    same.users++;
    return same;
  }
  const stop = new AbortController();
  const question = { users: 1 };
  const forget = () => asked.get(url) === question && asked.delete(url);
  question.answer = answer(url, stop.signal).then(async (r) => {
    question.at = r.headers.get("Efg-Snapshot"); // when the snapshot of a job was made
    const data = await decode(r);
    if (lasting && complete(data)) keep(url, data);
    return data;
  }).finally(forget);
  question.leave = () => {
    if (--question.users > 0) return;
    forget();
    stop.abort();
  };
  if (lasting) asked.set(url, question);
  return question;
}

function useAnswer(url, decode, lasting, following, complete) {
  const [state, set] = useState({});
  const [turn, again] = useState(0);
  useEffect(() => {
    if (!url) return;
    const stays = lasting && !following;
    if (stays && kept.has(url)) {
      set({ url, data: kept.get(url) });
      return;
    }
    return listen(ask(url, decode, stays, complete), following, (data) => set({ url, data }), (error) => {
      // What was answered before stays: the job goes on.
      set((old) => (following && old.url === url && old.data !== undefined ? old : { url, error }));
    });
  }, [url, turn, following?.turn]);
  const now = state.url === url;
  return {
    data: now ? state.data : undefined,
    last: state.data, // perhaps of another address, while the answer is not there yet
    error: now ? state.error : undefined,
    loading: Boolean(url) && !now,
    reload: () => again((n) => n + 1),
  };
}

// listen waits for an answer, unless what it returns is called before.
function listen(question, following, good, bad) {
  let here = true;
  const began = performance.now();
  const done = (act, error) => (value) => {
    if (!here) return;
    following?.noted({ took: performance.now() - began, at: question.at, error: error && value });
    act(value);
  };
  following?.noted({ asked: 1 });
  question.answer.then(done(good), done(bad, true)).finally(() => following?.noted({ asked: -1 }));
  return () => {
    here = false;
    question.leave();
  };
}

// useStored gives a document about a run; no url: nothing. Of a job that is followed it is
// asked for repeatedly.
export const useStored = (url) => useAnswer(url, asJSON, true, useContext(Following));

// useCurrent gives a document that may be another one later.
export const useCurrent = (url) => useAnswer(url, asJSON, false);

// useStoredParts gives what is not JSON, as decode makes it. What is not complete may be asked for
// again (reload), and is more then.
export function useStoredParts(url, decode, complete) {
  return useAnswer(url, async (r) => decode(new Uint8Array(await r.arrayBuffer())), true, useContext(Following), complete);
}

const mostPages = 12;

// usePages gives a long list in pages of so many rows, each asked for when it is wanted:
// urlOf(from) is the address of the page from that row on. head is a page that exists;
// page(n) page n, or nothing yet; want(first, last) has the pages of these rows asked for.
export function usePages(urlOf, size) {
  const following = useContext(Following);
  const [, redraw] = useState(0);
  const ref = useRef({ pages: new Map() });
  const key = `${urlOf(0)} ${following?.turn ?? ""}`;
  if (ref.current.key !== key) {
    const old = ref.current;
    for (const p of old.pages.values()) p.leave?.();
    // Of a list that is the same but newer the old rows stay until new ones are there.
    const before = [...old.pages.values()].some((p) => p.data) ? { pages: old.pages } : old.old;
    ref.current = { key, pages: new Map(), old: old.url === urlOf(0) ? before : undefined, url: urlOf(0) };
  }
  const now = ref.current;
  const load = (n) => {
    if (now.pages.has(n)) return;
    const url = urlOf(n * size);
    const page = {};
    now.pages.set(n, page);
    if (now.pages.size > mostPages) drop(now.pages, n);
    const there = (change) => {
      Object.assign(page, change);
      if (ref.current === now) redraw((x) => x + 1);
    };
    if (!following && kept.has(url)) return there({ data: kept.get(url) });
    page.leave = listen(ask(url, asJSON, !following), following, (data) => there({ data }), (error) => there({ error }));
  };
  useEffect(() => load(0), [key]);
  useEffect(() => () => {
    for (const p of ref.current.pages.values()) p.leave?.();
  }, []);
  const page = (n) => now.pages.get(n)?.data ?? now.old?.pages.get(n)?.data;
  const some = [...now.pages.values()];
  return {
    head: some.find((p) => p.data)?.data ?? [...(now.old?.pages.values() ?? [])].find((p) => p.data)?.data,
    error: some.find((p) => p.error)?.error,
    page,
    want: (first, last) => {
      for (let n = Math.floor(first / size); n * size < last; n++) load(n);
    },
  };
}

// drop forgets the page that is farthest from page n.
function drop(pages, n) {
  const far = [...pages.keys()].reduce((a, b) => (Math.abs(b - n) > Math.abs(a - n) ? b : a));
  pages.get(far).leave?.();
  pages.delete(far);
}

// pathQuestions are those about callsites, which call paths can tell apart.
const pathQuestions = new Set(["report", "graph", "graph/layout", "loops", "phases", "waits", "flows", "flame", "efficiency", "whatif", "check", "counters", "diff"]);

// address makes the address of a question about a run, or about the list of runs if
// there is no id. Callsites are told apart as the page's address says.
export function address(id, what, query = {}) {
  const params = new URLSearchParams();
  for (const [k, v] of Object.entries(query)) {
    if (v !== undefined && v !== "" && v !== false) params.set(k, String(v));
  }
  const depth = id && pathQuestions.has(what) && siteDepth();
  if (depth) params.set("site_depth", depth);
  const path = ["v1", "runs"];
  if (id) path.push(encodeURIComponent(id));
  if (what) path.push(what);
  const text = params.toString();
  return path.join("/") + (text ? `?${text}` : "");
}

// useEvents calls handle with the data of each server-sent event of a kind, and tells
// whether the stream is there. The browser connects again by itself, unless the server
// says that there is no such stream.
export function useEvents(url, kinds, handle) {
  const [open, set] = useState(false);
  const latest = useRef(handle);
  latest.current = handle;
  useEffect(() => {
    if (!url) return;
    const source = new EventSource(url);
    source.onopen = () => set(true);
    source.onerror = () => set(false);
    for (const kind of kinds) {
      source.addEventListener(kind, (e) => latest.current(e.data, kind));
    }
    return () => {
      source.close();
      set(false);
    };
  }, [url]);
  return open;
}
