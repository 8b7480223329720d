// Small parts that all views have.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { change } from "./route.js";

// Wait shows what is going on with an answer until there is one.
export function Wait({ on, children }) {
  if (on.error) return <Problem text={on.error.message} />;
  if (on.data === undefined) return <Loading />;
  return children(on.data);
}

// Loading says so when it takes long enough to wonder.
function Loading() {
  const [late, set] = useState(false);
  useEffect(() => {
    const t = setTimeout(() => set(true), 250);
    return () => clearTimeout(t);
  }, []);
  return <p class="note" role="status">{late ? "loading …" : ""}</p>;
}

export function Problem({ text }) {
  return <p class="problem" role="alert">{text}</p>;
}

export function Note({ children }) {
  return <p class="note">{children}</p>;
}

// Facts lists names and values.
export function Facts({ list }) {
  return (
    <dl class="facts">
      {list
        .filter(([, value]) => value !== undefined && value !== null && value !== "")
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

// Choice is a switch between a few values, kept in the address.
// Choice is one of several values of a part of the address, the first if it has none; what else
// changes with it is also.
export function Choice({ label, name, value, values, replace, also }) {
  return (
    <fieldset class="choice">
      <legend>{label}</legend>
      {values.map(([v, text]) => (
        <label key={v} class={v === value ? "on" : undefined}>
          <input type="radio" name={name} value={v} checked={v === value} onChange={() => change({ [name]: v === values[0][0] ? "" : v, ...also }, replace)} />
          {text}
        </label>
      ))}
    </fieldset>
  );
}

export function Check({ label, name, on }) {
  return (
    <label class={on ? "check on" : "check"}>
      <input type="checkbox" checked={on} onChange={() => change({ [name]: !on })} />
      {label}
    </label>
  );
}

// Search is a field that filters what is shown, kept in the address.
export function Search({ value, label }) {
  return (
    <input
      type="search"
      placeholder={`${label}  /`}
      aria-label={label}
      value={value ?? ""}
      onInput={(e) => change({ q: e.currentTarget.value }, true)}
    />
  );
}

// NumberField takes effect when the field is left or Enter is pressed.
export function NumberField({ label, name, value, most }) {
  const set = (e) => {
    const n = Number(e.currentTarget.value);
    if (Number.isInteger(n) && n >= 0 && n <= most) change({ [name]: n });
    else e.currentTarget.value = value;
  };
  return (
    <label class="field">
      {label}
      <input type="number" min={0} max={most} value={value} onChange={set} />
    </label>
  );
}

export function TextField({ label, name, value, hint, size = 12 }) {
  return (
    <label class="field">
      {label}
      <input type="text" size={size} value={value ?? ""} placeholder={hint} spellcheck={false} onChange={(e) => change({ [name]: e.currentTarget.value.trim() })} />
    </label>
  );
}

// useWidth is the width of an element, kept up to date; 0 as long as it is unknown.
export function useWidth() {
  const ref = useRef();
  const [width, set] = useState(0);
  useLayoutEffect(() => {
    const take = (w) => set(Math.max(200, Math.floor(w)));
    take(ref.current.clientWidth);
    const watch = new ResizeObserver(([entry]) => take(entry.contentRect.width));
    watch.observe(ref.current);
    return () => watch.disconnect();
  }, []);
  return [ref, width];
}
