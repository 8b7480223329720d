// A picture of parts that add up: a column for each rank, or each part of the time.

import { fixed } from "./format.js";

const mostColumns = 256;
const width = 720;
const height = 90;

// kinds are what time goes into, from below to above. Their colours are the same everywhere, differ
// in lightness, too, and waiting is hatched.
export const kinds = {
  computation: { name: "computation", class: "kind-computation" },
  mpi: { name: "in MPI otherwise", class: "kind-mpi" },
  waiting: { name: "waiting", class: "kind-waiting" },
};

// Stack draws columns, each { label, parts: { kind: amount } }, as high as the largest sum. Many
// are joined to some 256: their mean.
export function Stack({ label, columns, of, text, names = {} }) {
  const name = (k) => names[k] ?? kinds[k].name;
  const shown = joined(columns, of);
  const sum = (c) => of.reduce((s, k) => s + (c.parts[k] ?? 0), 0);
  const most = Math.max(1, ...shown.map(sum));
  const step = width / shown.length;
  const gap = step > 8 ? 1 : 0;
  return (
    <figure class="stack">
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={`${label}: ${words(shown, of, sum, name)}`}>
        <Hatching />
        {shown.map((c, i) => {
          let top = height;
          return (
            <g key={i}>
              <title>{`${c.label}: ${of.map((k) => `${name(k)} ${text(c.parts[k] ?? 0)}`).join(", ")}`}</title>
              {of.map((k) => {
                const h = (height * (c.parts[k] ?? 0)) / most;
                top -= h;
                return <rect key={k} class={kinds[k].class} x={fixed(i * step, 2)} width={fixed(step - gap, 2)} y={fixed(top, 2)} height={fixed(h, 2)} />;
              })}
            </g>
          );
        })}
      </svg>
      <figcaption>
        <span>{shown[0]?.label}</span>
        <span class="legend">
          {of.map((k) => (
            <span key={k}>
              <svg class="swatch" viewBox="0 0 14 12" aria-hidden="true"><rect class={kinds[k].class} width="14" height="12" /></svg>
              {name(k)}
            </span>
          ))}
        </span>
        <span>{shown.at(-1)?.label}</span>
      </figcaption>
    </figure>
  );
}

function Hatching() {
  return (
    <defs>
      <pattern id="hatching" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect width="4" height="4" class="hatching-back" />
        <rect width="1.6" height="4" class="hatching-line" />
      </pattern>
    </defs>
  );
}

// joined makes means of neighbours, so that there are few columns.
function joined(columns, of) {
  const each = Math.ceil(columns.length / mostColumns);
  if (each < 2) return columns;
  const out = [];
  for (let i = 0; i < columns.length; i += each) {
    const some = columns.slice(i, i + each);
    const parts = Object.fromEntries(of.map((k) => [k, some.reduce((s, c) => s + (c.parts[k] ?? 0), 0) / some.length]));
    out.push({ label: `${some[0].label} to ${some.at(-1).label}`, parts });
  }
  return out;
}

// words says for those who do not see the picture what each kind takes of all, at least and at most.
function words(columns, of, sum, name) {
  return of
    .map((k) => {
      const shares = columns.map((c) => (sum(c) ? (100 * (c.parts[k] ?? 0)) / sum(c) : 0));
      return `${name(k)} ${fixed(Math.min(...shares), 0)} to ${fixed(Math.max(...shares), 0)} %`;
    })
    .join(", ");
}
