// A plot of numbers over ranks, by uPlot.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { useEffect, useRef } from "preact/hooks";
import { useWidth } from "./parts.jsx";
import { useDark } from "./theme.js";

// wholeSteps are what ticks of whole numbers may be apart.
const wholeSteps = Array.from({ length: 10 }, (_, i) => [1, 2, 5].map((k) => k * 10 ** i)).flat();

// Plot draws series over x. A series has label, values, colour, and text(value). With
// points it draws points, not lines; those with ring as rings, that hide nothing.
export function Plot({ label, x, xLabel, yLabel, series, height = 220, text, points }) {
  const [box, width] = useWidth();
  const plot = useRef();
  const dark = useDark();
  useEffect(() => {
    const style = getComputedStyle(document.documentElement);
    const ink = style.getPropertyValue("--quiet").trim();
    const line = style.getPropertyValue("--line").trim();
    const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
    plot.current = new uPlot(
      {
        width: width || 900, height,
        scales: { x: { time: false }, y: { range: (u, low, high) => [0, high > 0 ? high * 1.05 : 1] } },
        axes: [
          { ...axis, label: xLabel, labelSize: 20, size: 36, incrs: wholeSteps, values: (u, at) => at.map((v) => (Number.isInteger(v) ? String(v) : "")) },
          { ...axis, label: yLabel, labelSize: 20, size: 76, values: (u, at) => at.map(text) },
        ],
        series: [
          { label: "rank", value: (u, v) => v ?? "" },
          ...series.map((s) => ({
            label: s.label, stroke: s.colour, width: points ? 0 : 1.5, value: (u, v) => (v == null ? "" : text(v)),
            paths: points ? () => null : undefined, points: { show: points || undefined, size: s.ring ? 12 : 7, width: 1.5, stroke: s.colour, fill: s.ring ? "transparent" : s.colour },
          })),
        ],
      },
      [x, ...series.map((s) => s.values)],
      box.current,
    );
    box.current.plot = plot.current;
    return () => plot.current.destroy();
  }, [x, series, dark, height]);
  useEffect(() => {
    if (width) plot.current.setSize({ width, height });
  }, [width]);
  return <div class="plot" ref={box} role="img" aria-label={label} />;
}
