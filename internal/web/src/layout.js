// Places the nodes of graphs, in a worker of its own: Graphviz as WebAssembly is large,
// and takes its time.

import { instance } from "@viz-js/viz";

onmessage = async ({ data }) => {
  try {
    const viz = await instance();
    const result = viz.render(data, { format: "svg", engine: "dot" });
    postMessage(result.status === "success" ? { svg: result.output } : { error: result.errors.map((e) => e.message).join("; ") });
  } catch (e) {
    postMessage({ error: String(e.message ?? e) });
  }
};
