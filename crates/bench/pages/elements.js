// Elements made by hand: whatever comes from data is text in them, never markup.
const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(
    ...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
}
const el = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

const mark = (text) => el("span", { class: "mark" }, text);
const link = (href, text, attributes = {}) => el("a", { href, ...attributes }, text);
// A page of somebody else's. It is not told where its reader comes from.
const outside = (href, text) =>
  /^https?:\/\//.test(href)
    ? el("a", { href, rel: "noopener noreferrer", referrerpolicy: "no-referrer" }, text)
    : text;
const option = (value, text, chosen) => el("option", { value, selected: value === chosen }, text);

// A labelled control.
const field = (name, control, attributes = {}) =>
  el("label", { class: "field", ...attributes }, el("span", {}, name), control);

// A head of a column, and a table of such heads (or the texts of them) and of rows.
const columnHead = (...children) => el("th", { scope: "col" }, children);
const tableWith = (heads, rows, attributes = {}) =>
  el(
    "table",
    attributes,
    el(
      "thead",
      {},
      el(
        "tr",
        {},
        heads.map((one) => (typeof one === "string" ? columnHead(one) : one)),
      ),
    ),
    el("tbody", {}, rows),
  );

const scroll = (name, table) =>
  el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": name }, table);

const many = (count, one, several = `${one}s`) =>
  `${count.toLocaleString("en-US")} ${count === 1 ? one : several}`;
const small = (text) => text.charAt(0).toLowerCase() + text.slice(1);
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// A number as people write it, with its unit: whole from a thousand on, else four digits.
const written = (value) =>
  value.toLocaleString(
    "en-US",
    Math.abs(value) >= 1000 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 4 },
  );
const shown = (value, unit) => (unit ? `${written(value)} ${unit}` : written(value));

// Says something to whoever cannot see it, and to whoever can for a moment.
function tell(text) {
  const place = document.querySelector("#told");
  place.textContent = text;
  clearTimeout(tell.timer);
  tell.timer = setTimeout(() => {
    place.textContent = "";
  }, 4000);
}

// Replaces what is in an element; what had the focus in it has it again.
function replace(element, ...children) {
  const key = element.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  element.replaceChildren(...children.flat(Infinity).filter(Boolean));
  if (key !== undefined)
    element.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
}
