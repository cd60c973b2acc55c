// Line charts as SVG: axes with few digits, colors by class, so that they follow the color scheme of the page.

import { plain } from "./elements.js";

// At most five round numbers that cover a range.
function ticks(low, high) {
  const step = 10 ** Math.floor(Math.log10((high - low) / 4 || 1));
  const size = [1, 2, 5, 10].map((k) => k * step).find((k) => (high - low) / k <= 4.5) ?? 10 * step;
  const found = [];
  for (let k = Math.ceil(low / size - 1e-9); k * size <= high + 1e-9 * size; k++) found.push(k * size + 0);
  return found;
}

function svg(kind, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", kind);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

// Series have a name, a class and points; `x` is the title of the horizontal axis, with `label` for its numbers, and
// `top` where the vertical one ends, with `format` for its numbers.
export function drawChart(element, series, { x, top, ends, label = plain, format = plain }) {
  const width = element.clientWidth, height = element.clientHeight;
  if (!width || !height) return;
  const points = series.flatMap((one) => one.points);
  const left = 52, right = 12, above = 24, below = 38;
  const [low, high] = ends ?? [0, Math.max(1, ...points.map((point) => point[0]))];
  const most = top ?? (Math.max(0, ...points.map((point) => point[1])) * 1.05 || 1);
  const across = (value) => left + ((value - low) / (high - low || 1)) * (width - left - right);
  const up = (value) => height - below - (value / most) * (height - above - below);
  const drawn = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  for (const value of ticks(0, most)) {
    drawn.append(svg("line", { x1: left, x2: width - right, y1: up(value), y2: up(value), class: "grid" }));
    drawn.append(svg("text", { x: left - 6, y: up(value) + 4, class: "tick end" }, format(value)));
  }
  for (const value of ticks(low, high)) {
    const at = across(value), last = at > width - right - 24;
    drawn.append(svg("text", { x: last ? width - 2 : at, y: height - below + 16, class: `tick ${last ? "end" : "middle"}` }, label(value)));
  }
  drawn.append(svg("text", { x: (left + width - right) / 2, y: height - 6, class: "tick middle" }, x));
  // Lines are cut off where the chart ends.
  const [wide, tall] = [width - left - right + 6, height - above - below + 3];
  const inside = svg("svg", { x: left - 3, y: above, width: wide, height: tall, viewBox: `${left - 3} ${above} ${wide} ${tall}` });
  drawn.append(inside);
  let place = left;
  for (const one of series) {
    const line = one.points.map((point) => `${across(point[0]).toFixed(1)},${up(point[1]).toFixed(1)}`).join(" ");
    inside.append(svg("polyline", { points: line, class: `series ${one.kind}` }));
    if (one.points.length === 1) inside.append(svg("circle", { cx: line.split(",")[0], cy: line.split(",")[1], r: 3, class: `dot ${one.kind}` }));
    const outside = one.points.length > 0 && one.points.every((point) => point[1] > most);
    const name = outside ? `${one.name} (above the chart)` : one.name;
    drawn.append(svg("line", { x1: place, x2: place + 18, y1: 10, y2: 10, class: `series ${one.kind}` }));
    drawn.append(svg("text", { x: place + 23, y: 14, class: "tick" }, name));
    place += 40 + 7 * name.length;
  }
  element.replaceChildren(drawn);
}
