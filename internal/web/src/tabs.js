import { onlyRun } from "./data.js";

// The views of a run and of a job that is being recorded, and the keys that go to them
// after g.
const all = [
  { name: "summary", key: "s" },
  { name: "waits", key: "a" },
  { name: "flame", key: "f" },
  { name: "efficiency", key: "e" },
  { name: "what-if", key: "h" },
  { name: "imbalance", key: "i" },
  { name: "ranks", key: "n" },
  { name: "matrix", key: "m" },
  { name: "graph", key: "g" },
  { name: "timeline", key: "t" },
  { name: "loops", key: "l" },
  { name: "phases", key: "p" },
  { name: "check", key: "c" },
  { name: "diff", key: "d" },
  { name: "source", key: "o" },
  { name: "where", key: "w" },
];

// Those that ask for more than a page without a server holds are not in it.
const served = ["ranks", "graph", "diff", "source", "where"];

export const tabs = onlyRun ? all.filter((t) => !served.includes(t.name)) : all;
