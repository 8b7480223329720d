// The views of a run, and the keys that go to them after g. A job that is being
// recorded has those that are live; a stored run has those that are stored.
export const tabs = [
  { name: "summary", key: "s", stored: true, live: true },
  { name: "imbalance", key: "i", stored: true },
  { name: "ranks", key: "n", stored: true },
  { name: "matrix", key: "m", stored: true },
  { name: "graph", key: "g", stored: true },
  { name: "timeline", key: "t", stored: true },
  { name: "loops", key: "l", stored: true },
  { name: "phases", key: "p", stored: true },
  { name: "check", key: "c", stored: true },
  { name: "diff", key: "d", stored: true },
  { name: "where", key: "w", stored: true, live: true },
];
