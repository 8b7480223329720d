// Colours, chosen so that people who see colours differently can tell them apart.

// A scale of one measure from little to much; its lightness alone orders it. The
// background is light or dark, so "little" is what is near to it, and yet not taken for
// nothing.
const light = [[255, 234, 150], [254, 204, 92], [253, 141, 60], [227, 26, 28], [128, 0, 38], [40, 0, 40]];
const dark = [[92, 30, 96], [130, 28, 88], [178, 40, 66], [232, 92, 52], [252, 172, 70], [255, 244, 190]];

// heat is the colour of a part from 0 to 1, as [red, green, blue].
export function heat(part, isDark) {
  const stops = isDark ? dark : light;
  const at = Math.max(0, Math.min(1, part)) * (stops.length - 1);
  const i = Math.min(Math.floor(at), stops.length - 2);
  return stops[i].map((a, k) => Math.round(a + (at - i) * (stops[i + 1][k] - a)));
}

export const css = ([r, g, b]) => `rgb(${r},${g},${b})`;
