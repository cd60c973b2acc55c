// Numbers as text, elements and tables. Text from models is set as text, never as markup.

const plainNumbers = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
const shortNumbers = new Intl.NumberFormat("en", { maximumSignificantDigits: 3, notation: "compact" });

export const $ = (id) => document.getElementById(id);
export const inOrder = (a, b) => String(a).localeCompare(String(b), "en", { numeric: true });

// A number as people write it: few digits, no exponents.
export function plain(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (value !== 0 && Math.abs(value) < 0.001) return value > 0 ? "<0.001" : ">−0.001";
  const text = Math.abs(value) >= 1e6 ? shortNumbers.format(value) : plainNumbers.format(value);
  return text.replace("-", "−");
}

export function percent(part) {
  return part === null || Number.isNaN(part) ? "–" : `${(100 * part).toFixed(1)} %`;
}

// A probability with three decimals, so that a column of them lines up.
export function probability(share) {
  return share > 0 && share < 0.001 ? "<0.001" : share < 1 && share > 0.999 ? ">0.999" : share.toFixed(3);
}

export function duration(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  return seconds < 1 ? `${plain(1000 * seconds)} ms` : `${plain(seconds)} s`;
}

export function element(kind, text, properties = {}) {
  const made = document.createElement(kind);
  if (text !== undefined) made.textContent = text;
  return Object.assign(made, properties);
}

// A cell with a name that may be long: the rest of it is shown on hover.
function named(name, scope, most = 48) {
  const text = String(name);
  return text.length > most ? element("th", `${text.slice(0, most - 1)}…`, { scope, title: text }) : element("th", text, { scope });
}

// What has not changed is not set: whoever listens to the page, a screen reader or a selection, is not disturbed.
export function setText(id, text) {
  if ($(id).textContent !== text) $(id).textContent = text;
}

export function setClass(element, name) {
  if (element.className !== name) element.className = name;
}

export function setHidden(id, hidden) {
  if ($(id).hidden !== hidden) $(id).hidden = hidden;
}

// Replace what has changed, and nothing else: whoever has scrolled or selected something stays where they are.
export function fill(place, made) {
  if (place.innerHTML !== made.outerHTML) place.replaceChildren(made);
}

// A table with a name at the head of each row.
export function table(heads, rows, most) {
  const made = element("table");
  if (heads.length) made.createTHead().insertRow().append(...heads.map((head) => named(head, "col", most)));
  const body = made.createTBody();
  for (const [first, ...others] of rows) {
    const row = body.insertRow();
    row.append(named(first, "row"), ...others.map((value) => (value instanceof Element ? value : element("td", value))));
  }
  return made;
}

// A table whose rows are a name, further cells, and a number with its bar.
export function bars(rows, heads = [], format = plain) {
  const largest = Math.max(...rows.map((row) => Math.abs(row.at(-1))), 1e-300);
  const drawn = rows.map((row) => {
    const value = row.at(-1);
    const bar = element("span", "", { className: value < 0 ? "minus" : "" });
    bar.style.width = `${((100 * Math.abs(value)) / largest).toFixed(1)}%`;
    const cell = element("td", undefined, { className: "bar" });
    cell.append(bar);
    return [...row.slice(0, -1), format(value), cell];
  });
  return table(heads.length ? [...heads, ""] : [], drawn);
}
