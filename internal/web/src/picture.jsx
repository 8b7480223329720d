// A picture that can be moved and zoomed.

import { useEffect, useLayoutEffect, useRef } from "preact/hooks";

const most = 8, least = 0.02;
const legible = 0.6; // texts are then about 9 pixels high

// Picture shows an SVG of nodes, which it is given as its child; whenever shown changes, all of it anew. click is called with the title of
// a node, or nothing beside all.
export function Picture({ shown, ready, click, label, children }) {
  const box = useRef();
  const view = useRef({ x: 0, y: 0, zoom: 1 });
  const latest = useRef(click);
  latest.current = click;
  useLayoutEffect(() => {
    const image = box.current.querySelector("svg");
    squeeze(image);
    fit(box.current, image, view.current);
  }, [shown]);
  useEffect(() => handle(box.current, view.current, latest), []);
  return <div class="picture" ref={box} tabIndex={0} role="img" aria-label={label} data-ready={ready ? "graph" : undefined}>{children}</div>;
}

const titleOf = (node) => node.querySelector("title")?.textContent;

// squeeze keeps texts in their boxes, where a font is wider than the one that they were made for.
function squeeze(image) {
  for (const node of image.querySelectorAll("g.node")) {
    const room = node.querySelector("rect").width.baseVal.value - 14;
    for (const text of node.querySelectorAll("text")) {
      if (text.getComputedTextLength() <= room) continue;
      text.setAttribute("textLength", room);
      text.setAttribute("lengthAdjust", "spacingAndGlyphs");
    }
  }
}

function sizeOf(image) {
  const { width, height } = image.viewBox.baseVal;
  return { width: width * (4 / 3), height: height * (4 / 3) }; // points to pixels
}

// fit makes the box as high as the picture, within bounds, and shows all of it if that
// is legible, or else its top, with the first node in the middle.
function fit(box, image, view) {
  const size = sizeOf(image);
  const wide = Math.min(1, box.clientWidth / size.width);
  const high = Math.max(240, Math.min(0.75 * innerHeight, size.height * wide + 8));
  box.style.height = `${high}px`;
  view.zoom = Math.max(legible, Math.min(wide, high / size.height));
  if (size.height * view.zoom > high) view.zoom = Math.max(view.zoom, Math.min(wide, 0.8));
  const room = box.clientWidth - size.width * view.zoom;
  view.x = room >= 0 ? room / 2 : Math.min(0, Math.max(room, box.clientWidth / 2 - firstOf(image) * view.zoom));
  view.y = Math.max(0, (high - size.height * view.zoom) / 2);
  show(box, view);
}

// firstOf is where the centre of the first node is from the left, in pixels.
function firstOf(image) {
  const first = image.querySelector("g.node rect");
  return first ? (first.x.baseVal.value + first.width.baseVal.value / 2) * (4 / 3) : 0;
}

function whole(box, view) {
  const size = sizeOf(box.querySelector("svg"));
  view.zoom = Math.max(least, Math.min(1, box.clientWidth / size.width, box.clientHeight / size.height));
  view.x = (box.clientWidth - size.width * view.zoom) / 2;
  view.y = (box.clientHeight - size.height * view.zoom) / 2;
}

function show(box, view) {
  const image = box.querySelector("svg");
  if (!image) return;
  const size = sizeOf(image);
  image.style.width = `${size.width * view.zoom}px`;
  image.style.height = `${size.height * view.zoom}px`;
  image.style.transform = `translate(${view.x}px,${view.y}px)`;
}

function zoomAt(view, factor, x, y) {
  const zoom = Math.max(least, Math.min(most, view.zoom * factor));
  view.x = x - ((x - view.x) * zoom) / view.zoom;
  view.y = y - ((y - view.y) * zoom) / view.zoom;
  view.zoom = zoom;
}

// handle acts on mouse and keys; what it returns ends that.
function handle(box, view, click) {
  const stop = new AbortController();
  const on = (name, f) => box.addEventListener(name, f, { signal: stop.signal });
  let drag = null;
  on("wheel", (e) => {
    if (!e.ctrlKey && document.activeElement !== box) return; // else the page scrolls
    const r = box.getBoundingClientRect();
    zoomAt(view, Math.exp(-e.deltaY / 400), e.clientX - r.left, e.clientY - r.top);
    show(box, view);
    e.preventDefault();
  });
  on("pointerdown", (e) => {
    drag = { x: e.clientX - view.x, y: e.clientY - view.y, moved: false };
  });
  on("pointermove", (e) => {
    if (!drag || !e.buttons) return;
    if (!drag.moved && Math.hypot(e.clientX - drag.x - view.x, e.clientY - drag.y - view.y) < 4) return;
    if (!drag.moved) box.setPointerCapture(e.pointerId);
    drag.moved = true;
    view.x = e.clientX - drag.x;
    view.y = e.clientY - drag.y;
    show(box, view);
  });
  on("click", (e) => {
    if (drag?.moved) return;
    const node = e.target.closest("g.node");
    click.current(node ? titleOf(node) : undefined, false);
  });
  on("dblclick", (e) => {
    const node = e.target.closest("g.node");
    if (node) click.current(titleOf(node), true);
  });
  on("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const moves = { ArrowLeft: [80, 0], ArrowRight: [-80, 0], ArrowUp: [0, 80], ArrowDown: [0, -80] };
    if (moves[e.key]) {
      view.x += moves[e.key][0];
      view.y += moves[e.key][1];
    } else if (e.key === "+" || e.key === "=") zoomAt(view, 1.25, box.clientWidth / 2, box.clientHeight / 2);
    else if (e.key === "-") zoomAt(view, 0.8, box.clientWidth / 2, box.clientHeight / 2);
    else if (e.key === "0") whole(box, view);
    else return;
    show(box, view);
    e.preventDefault();
    e.stopPropagation();
  });
  return () => stop.abort();
}
