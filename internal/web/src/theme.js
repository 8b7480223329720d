// Light or dark: as the system says, or as chosen here.

import { useEffect, useState } from "preact/hooks";

const key = "efg-theme";
const system = matchMedia("(prefers-color-scheme: dark)");

function chosen() {
  try {
    return localStorage.getItem(key);
  } catch {
    return null; // not allowed
  }
}

function apply() {
  const dark = (chosen() ?? (system.matches ? "dark" : "light")) === "dark";
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  return dark;
}

export function toggleTheme() {
  const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  try {
    localStorage.setItem(key, next);
  } catch {
    // Then it holds until the system's changes.
  }
  document.documentElement.dataset.theme = next;
  dispatchEvent(new Event("themechange"));
}

apply();
system.addEventListener("change", () => {
  apply();
  dispatchEvent(new Event("themechange"));
});

// useDark reports whether it is dark, for what is drawn on a canvas.
export function useDark() {
  const [dark, set] = useState(document.documentElement.dataset.theme === "dark");
  useEffect(() => {
    const changed = () => set(document.documentElement.dataset.theme === "dark");
    addEventListener("themechange", changed);
    return () => removeEventListener("themechange", changed);
  }, []);
  return dark;
}
