// The server's answer about a timeline: a line of JSON, then a byte for each pixel of each
// row. internal/analysis/timeline describes it.

export const outside = 0, other = 251, untimed = 252, unread = 254, nothing = 255;

// decode reads an answer.
export function decode(data) {
  const end = data.indexOf(10);
  if (end < 0) throw new Error("the timeline has no header");
  const head = JSON.parse(new TextDecoder().decode(data.subarray(0, end)));
  if (head.schema !== "efg-timeline/1") throw new Error(`a timeline of an unknown form: ${head.schema}`);
  const pixels = data.subarray(end + 1, end + 1 + head.rows.length * head.width);
  if (pixels.length < head.rows.length * head.width) throw new Error("the timeline is cut off");
  return { ...head, pixels };
}

// membersOf are the ranks of a row, as in 0,3-5.
export function membersOf(view, y) {
  const [first, last] = view.rows[y];
  return view.members?.[y] ?? (first === last ? `${first}` : `${first}-${last}`);
}

// looked is which part of a view was looked at, 0 to 1: of rows of several ranks how many of
// them, of others which part of their time.
export function looked(view) {
  if (view.complete) return 1;
  let sum = 0;
  view.rows.forEach(([, , ranks, read], y) => {
    if (ranks > 1) sum += read / ranks;
    else sum += 1 - view.pixels.subarray(y * view.width, (y + 1) * view.width).reduce((n, p) => n + (p === unread), 0) / view.width;
  });
  return sum / view.rows.length;
}

// Ticks of an axis: about so many round times between from and to, in ns.
export function ticks(from, to, about) {
  const rough = (to - from) / about;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= rough);
  const list = [];
  for (let t = Math.ceil(from / step) * step; t <= to; t += step) list.push(t);
  return list;
}

// stretch is the part of the time that an address asks for, within the run of a view. Without either end
// it is that between MPI_Init and MPI_Finalize.
export function stretch(from, to, { begin, end, work }) {
  if (!from && !to) return work;
  const inside = (t) => Math.max(begin, Math.min(end, t));
  return within(inside(Number(from ?? begin) || 0), inside(Number(to ?? end) || end), begin, end);
}

// arranged is a view with its rows in the order of their ranks in a list, if each row has one rank.
export function arranged(view, ranks) {
  if (!ranks || view.rows.some(([, , count]) => count !== 1)) return view;
  const place = new Map(ranks.map((rank, i) => [rank, i]));
  const order = view.rows.map((_, y) => y).toSorted((a, b) => (place.get(view.rows[a][0]) ?? Infinity) - (place.get(view.rows[b][0]) ?? Infinity) || a - b);
  const pixels = new Uint8Array(view.pixels.length);
  order.forEach((from, to) => pixels.set(view.pixels.subarray(from * view.width, (from + 1) * view.width), to * view.width));
  return { ...view, rows: order.map((y) => view.rows[y]), members: view.members && order.map((y) => view.members[y]), pixels };
}

// within keeps a stretch of time within the run, and not shorter than some nanoseconds.
export function within(from, to, begin, end) {
  const length = Math.min(end - begin, Math.max(100, to - from));
  const start = Math.max(begin, Math.min(end - length, from));
  return [Math.round(start), Math.round(start + length)];
}
