// Pictures with two axes, drawn anew for whatever width there is, so that letters keep their size.
// A pointer reads the nearest point, arrow keys go from one to the next, Enter follows its link.

const AROUND = { left: 64, right: 18, top: 26, bottom: 44 };

// Where a value is on an axis, from 0 to 1.
const scaleOf = ({ from, to, log }) =>
  log
    ? (value) => (Math.log(Math.max(value, from)) - Math.log(from)) / (Math.log(to) - Math.log(from) || 1)
    : (value) => (value - from) / (to - from || 1);

// Steps of a clock, in seconds.
const CLOCK = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400];

function ticks({ from, to, log, isTime }, most) {
  if (isTime) {
    const step = CLOCK.find((step) => (to - from) / step <= most) ?? CLOCK.at(-1);
    const first = Math.ceil(from / step) * step;
    return Array.from({ length: Math.floor((to - first) / step) + 1 }, (_, at) => first + at * step);
  }
  if (log && to / from > 8) {
    const decades = Math.log10(to / from);
    const parts = decades < 2.2 && most > 4 ? [1, 2, 5] : [1];
    const all = [];
    for (let power = Math.floor(Math.log10(from)); power <= Math.ceil(Math.log10(to)); power++) {
      for (const part of parts) all.push(part * 10 ** power);
    }
    const inside = all.filter((value) => value >= from * 0.999 && value <= to * 1.001);
    const every = Math.ceil(inside.length / most);
    return inside.filter((_, at) => at % every === 0);
  }
  const rough = (to - from) / Math.max(2, most);
  const power = 10 ** Math.floor(Math.log10(rough || 1));
  const step = [1, 2, 5, 10].map((part) => part * power).find((one) => one >= rough * 0.999) ?? 1;
  const all = [];
  for (let value = Math.ceil(from / step - 1e-9) * step; value <= to * (1 + 1e-9); value += step)
    all.push(Number(value.toPrecision(12)));
  return all;
}

// 1, 2 or 5 times a power of ten.
const roundDown = (value) => {
  const power = 10 ** Math.floor(Math.log10(value));
  return [5, 2, 1].find((part) => part * power <= value) * power;
};

// An axis that holds these values; from zero where it is linear and `fromZero`.
function axisOf(values, { log = false, fromZero = true, ...words }) {
  const good = values.filter((value) => Number.isFinite(value) && (!log || value > 0));
  if (!good.length) return { from: log ? 1 : 0, to: log ? 10 : 1, log, ...words };
  const [low, high] = good.reduce(
    ([low, high], value) => [Math.min(low, value), Math.max(high, value)],
    [Infinity, -Infinity],
  );
  if (log) return { from: roundDown(low / 1.1), to: high * 1.15, log, ...words };
  const room = (high - low || Math.abs(high) || 1) * 0.05;
  return { from: fromZero ? Math.min(0, low) : low - room, to: high + room, log, ...words };
}

// `draw(place, x, y)` adds what is in the picture and gives the points that can be read:
// { x, y, text, href } in pixels. `label` is what it is to whoever does not see it.
function chart({ label, x, y, height = 300, draw }) {
  const drawing = svg("svg", { class: "drawing", role: "img", "aria-label": label, height });
  const tip = el("div", { class: "tip", hidden: true });
  const element = el(
    "div",
    { class: "chart", tabindex: 0, role: "group", "aria-label": `${label}. Arrow keys read its values.` },
    drawing,
    tip,
  );
  let points = [],
    at = -1,
    width = 0;
  const paint = () => {
    const now = Math.floor(element.clientWidth);
    if (!now || now === width) return;
    width = now;
    at = -1;
    tip.hidden = true;
    ({ points } = paintChart(drawing, { x, y, width, height, draw }));
  };
  const show = (next) => {
    at = next;
    drawing.querySelector(".ring")?.remove();
    tip.hidden = at < 0;
    if (at < 0) return;
    const point = points[at];
    drawing.append(svg("circle", { class: "ring", cx: point.x, cy: point.y, r: 7 }));
    tip.textContent = point.text;
    const left = Math.min(point.x + 12, width - tip.offsetWidth - 2);
    tip.style.left = `${Math.max(0, left)}px`;
    tip.style.top = `${Math.max(0, point.y - tip.offsetHeight - 10)}px`;
  };
  element.addEventListener("pointermove", (event) => {
    const box = drawing.getBoundingClientRect();
    show(nearestPoint(points, event.clientX - box.left, event.clientY - box.top));
  });
  element.addEventListener("pointerleave", () => show(-1));
  element.addEventListener("click", () => {
    if (points[at]?.href) location.hash = points[at].href;
  });
  element.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    const next =
      event.key === "Home"
        ? 0
        : event.key === "End"
          ? points.length - 1
          : step
            ? Math.min(points.length - 1, Math.max(0, at + step))
            : null;
    if (event.key === "Enter" && points[at]?.href) location.hash = points[at].href;
    if (event.key === "Escape") show(-1);
    if (next === null || !points.length) return;
    event.preventDefault();
    show(next);
    tell(points[next].text.replaceAll("\n", "; "));
  });
  new ResizeObserver(paint).observe(element);
  return element;
}

function nearestPoint(points, x, y) {
  let [best, least] = [-1, Infinity];
  points.forEach((point, at) => {
    const distance = (point.x - x) ** 2 + ((point.y - y) * (point.flat ? 0.02 : 1)) ** 2;
    if (distance < least) [best, least] = [at, distance];
  });
  return best;
}

function paintChart(drawing, { x, y, width, height, draw }) {
  const [right, bottom] = [width - AROUND.right, height - AROUND.bottom];
  const [placeX, placeY] = [scaleOf(x), scaleOf(y)];
  const atX = (value) => AROUND.left + placeX(value) * (right - AROUND.left);
  const atY = (value) => bottom - Math.min(1, Math.max(0, placeY(value))) * (bottom - AROUND.top);
  const place = svg("g");
  drawing.setAttribute("width", width);
  drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const vertical = ticks(x, Math.max(2, Math.floor((right - AROUND.left) / (x.isTime ? 70 : 95)))),
    horizontal = ticks(y, 6);
  drawing.replaceChildren(
    svg(
      "g",
      { class: "grid" },
      vertical.map((value) => svg("line", { x1: atX(value), x2: atX(value), y1: AROUND.top, y2: bottom })),
      horizontal.map((value) => svg("line", { x1: AROUND.left, x2: right, y1: atY(value), y2: atY(value) })),
    ),
    svg(
      "g",
      { class: "tick" },
      vertical.map((value) =>
        svg(
          "text",
          { x: atX(value), y: bottom + 18, "text-anchor": atX(value) > right - 24 ? "end" : "middle" },
          x.say(value),
        ),
      ),
      horizontal.map((value) =>
        svg("text", { x: AROUND.left - 8, y: atY(value) + 4, "text-anchor": "end" }, y.say(value)),
      ),
    ),
    svg("text", { class: "title", x: right, y: height - 6, "text-anchor": "end" }, x.name),
    svg("text", { class: "title", x: 2, y: 14 }, y.name),
    place,
  );
  return { points: draw(place, atX, atY) };
}

// Short enough for a tick: 250, 10k, 2.5M.
const short = (value) => {
  const [size, letter] = [
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
  ].find(([size]) => Math.abs(value) >= size) ?? [1, ""];
  return `${Number((value / size).toPrecision(3))}${letter}`;
};
