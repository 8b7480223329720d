// Numbers as the commands of efg write them.

const byteUnits = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

// grouped writes a number with commas: 1,234,567.
export function grouped(n) {
  return String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ",");
}

// fixed writes a number with so many digits behind the point; of two that are as near it
// takes the even one, as the commands do.
export function fixed(v, digits) {
  const up = v.toFixed(digits);
  if (Math.abs((v * 10 ** digits) % 1) !== 0.5) return up;
  const [whole, part] = v.toFixed(100).split(".");
  if (!/^50*$/.test(part.slice(digits))) return up;
  const down = digits ? `${whole}.${part.slice(0, digits)}` : whole;
  return Number(down.at(-1)) % 2 ? up : down;
}

// scaled writes a number with three digits, or all in front of the point, and the
// unit that fits. Units are step apart.
export function scaled(v, step, units) {
  let i = 0;
  while (i < units.length - 1 && v >= step * 0.9995) {
    v /= step;
    i++;
  }
  let digits = 0;
  if (i > 0 && v > 0) digits = Math.max(0, 2 - Math.floor(Math.log10(v) + 0.0005));
  return `${fixed(v, digits)} ${units[i]}`;
}

// nanos writes a duration given in nanoseconds.
export function nanos(v) {
  return v < 0 ? `-${nanos(-v)}` : scaled(v, 1000, ["ns", "µs", "ms", "s"]);
}

export function seconds(v) {
  return nanos(v * 1e9);
}

export function bytes(n) {
  return scaled(n, 1024, byteUnits);
}

// byteCell is bytes for tables, where 0 would only distract.
export function byteCell(n) {
  return n ? bytes(n) : "-";
}

export function percent(part, whole, digits = 1) {
  return whole ? `${fixed((100 * part) / whole, digits)}%` : "-";
}

export function rate(v) {
  return scaled(v, 1000, ["", "k", "M", "G"]).trim();
}

export function plural(n, word) {
  return `${grouped(n)} ${word}${n === 1 ? "" : "s"}`;
}

// timesText says what times a run has, of what its file calls "off", "stats" or
// "trace=" and an error in percent, and perhaps a budget after a comma.
export function timesText(kind) {
  const [mode, text] = kind.split("=", 2);
  const [error, budget] = text ? text.split(",", 2) : [];
  switch (mode) {
    case "off":
      return "none";
    case "stats":
      return "sums, extremes and a histogram for each kind of call";
    case "trace":
      return [
        error === "exact" ? "of each call, exact" : error ? `of each call, at most ${error}% off` : "of each call",
        budget && `until they take ${budget} in a process`,
      ].filter(Boolean).join(", ");
  }
  return "unknown";
}

export function moment(text) {
  const at = new Date(text);
  if (Number.isNaN(at.getTime()) || at.getTime() <= 0) return "-";
  const two = (n) => String(n).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

// command writes a command line, the program without its directory.
export function command(words) {
  if (!words?.length) return "";
  return [words[0].replace(/^.*\//, ""), ...words.slice(1)].join(" ");
}

// rankText writes a list of ranks: 0-3,7.
export function rankText(list) {
  const parts = [];
  for (let i = 0; i < list.length; ) {
    let j = i;
    while (j + 1 < list.length && list[j + 1] === list[j] + 1) j++;
    parts.push(j > i ? `${list[i]}-${list[j]}` : `${list[i]}`);
    i = j + 1;
  }
  return parts.join(",");
}

// rangeText writes ranks that are given as ranges [first, count, stride].
export function rangeText(ranges) {
  return ranges
    .map(([first, count, stride]) => {
      if (count === 1) return `${first}`;
      const last = first + (count - 1) * stride;
      return stride === 1 ? `${first}-${last}` : `${first}-${last}:${stride}`;
    })
    .join(",");
}

// listedRanges is how many ranges of ranks are asked for, one more than is shown.
export const listedRanges = 25;

// rangesText writes the first ranges of a list that the server may have cut.
export function rangesText(ranges, most) {
  const text = rangeText(ranges.slice(0, listedRanges - 1));
  return shorten(ranges.length < listedRanges ? text : `${text},…`, most);
}

// shortenMiddle leaves out the middle of a text that has more characters: what tells names apart is
// at both ends.
export function shortenMiddle(text, most) {
  if (text.length <= most) return text;
  const front = Math.ceil((most - 1) * 0.45);
  return `${text.slice(0, front)}…${text.slice(text.length - (most - 1 - front))}`;
}

// shorten cuts a text to so many characters.
export function shorten(text, most) {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

// mpiName is the name and the version of an MPI library of what it says about itself.
export function mpiName(text) {
  const mpich = text.match(/^(\S+) Version:\s*(\S+)/);
  return mpich ? `${mpich[1]} ${mpich[2]}` : shorten(text.split(",")[0].replace(/ v(?=\d)/, " "), 48);
}
