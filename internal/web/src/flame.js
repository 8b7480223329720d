// The server's tree of what places of a program cost: docs/api.md describes it.

// read makes a tree of an answer. A node has name, kind, op, site, values of each run, value (of two
// runs their mean, so that nodes are as wide as their children), children, parent, depth, and path.
export function read(answer) {
  const text = (i) => (i < 0 ? "" : answer.texts[i]);
  const nodes = [];
  for (const [parent, name, kind, op, site, ...values] of answer.nodes) {
    const above = nodes[parent];
    const node = { name: text(name), kind: text(kind), op: text(op), site: text(site), values, value: values.reduce((a, b) => a + b, 0) / values.length, children: [], parent: above, number: nodes.length };
    node.depth = above ? above.depth + 1 : 0;
    node.path = above ? (above.parent ? `${above.path}›${node.name}` : node.name) : "";
    above?.children.push(node);
    nodes.push(node);
  }
  return { root: nodes[0], nodes };
}

// find returns the node at a path, or the root.
export const find = (tree, path) => (path && tree.nodes.find((n) => n.path === path)) || tree.root;

// layout places what is in sight: below a node, which is as wide as 1, and what leads to it. Nodes that
// are narrower than least are left out; of each there is { node, x, wide }.
export function layout(top, least) {
  const list = [];
  for (let n = top.parent; n; n = n.parent) list.unshift({ node: n, x: 0, wide: 1 });
  const place = (node, x, wide) => {
    list.push({ node, x, wide });
    for (const c of node.children) {
      const w = node.value ? (wide * c.value) / node.value : 0;
      if (w >= least) place(c, x, w);
      x += w;
    }
  };
  place(top, 0, 1);
  return list;
}

// change is how much more the second run has, from -1 to 1, of the larger.
export function change([a, b]) {
  const most = Math.max(a, b);
  return most ? (b - a) / most : 0;
}

// differenceColour is red for more, blue for less, the paler the smaller the change, as CSS.
export function differenceColour(part, dark) {
  const end = part > 0 ? (dark ? [232, 92, 72] : [205, 52, 40]) : (dark ? [86, 150, 230] : [38, 100, 190]);
  const middle = dark ? [52, 57, 64] : [236, 238, 240];
  const by = Math.min(1, Math.sqrt(Math.abs(part)));
  return `#${middle.map((v, i) => Math.round(v + by * (end[i] - v)).toString(16).padStart(2, "0")).join("")}`;
}

// inkOn is the colour of a text on a colour.
export function inkOn(colour) {
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16) / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000000" : "#ffffff"; // whichever has more contrast: at least 4.5
}
