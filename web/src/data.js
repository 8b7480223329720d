// What the page asks the server.

import { useEffect, useRef, useState } from "preact/hooks";

// Failure is an answer that is an error, with the server's words.
export class Failure extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function answer(url, signal) {
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

const asJSON = async (r) => r.json();
const asBytes = async (r) => new Uint8Array(await r.arrayBuffer());

// kept holds the last answers about stored runs, which do not change, by address.
const kept = new Map();
const mostKept = 24;

function keep(url, data) {
  kept.delete(url);
  kept.set(url, data);
  if (kept.size > mostKept) kept.delete(kept.keys().next().value);
}

// asked are questions without an answer yet, by address. Those about stored runs are asked
// once, however many want to know; when nobody does any more the server is told to stop.
const asked = new Map();

function ask(url, decode, lasting) {
  const same = lasting && asked.get(url);
  if (same) {
    same.users++;
    return same;
  }
  const stop = new AbortController();
  const question = { users: 1 };
  const forget = () => asked.get(url) === question && asked.delete(url);
  question.answer = answer(url, stop.signal).then(decode).then((data) => {
    if (lasting) keep(url, data);
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

function useAnswer(url, decode, lasting) {
  const [state, set] = useState({});
  const [turn, again] = useState(0);
  useEffect(() => {
    if (!url) return;
    if (lasting && kept.has(url)) {
      set({ url, data: kept.get(url) });
      return;
    }
    let here = true;
    const question = ask(url, decode, lasting);
    question.answer.then((data) => here && set({ url, data }), (error) => here && set({ url, error }));
    return () => {
      here = false;
      question.leave();
    };
  }, [url, turn]);
  const now = state.url === url;
  return {
    data: now ? state.data : undefined,
    last: state.data, // perhaps of another address, while the answer is not there yet
    error: now ? state.error : undefined,
    loading: Boolean(url) && !now,
    reload: () => again((n) => n + 1),
  };
}

// useStored gives a document about a stored run; no url: nothing.
export const useStored = (url) => useAnswer(url, asJSON, true);

// useCurrent gives a document that may be another one later.
export const useCurrent = (url) => useAnswer(url, asJSON, false);

// useStoredBytes gives what is not JSON.
export const useStoredBytes = (url) => useAnswer(url, asBytes, true);

// address makes the address of a question about a run, or about the list of runs if
// there is no id.
export function address(id, what, query = {}) {
  const params = new URLSearchParams();
  for (const [k, v] of Object.entries(query)) {
    if (v !== undefined && v !== "" && v !== false) params.set(k, String(v));
  }
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
