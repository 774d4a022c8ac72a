// What a reader does with the pictures: choose, look closer, read values. Everything is there without
// it.
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const LEFT = 60, RIGHT = 16, ABOVE = 38;   // around the axes' area, as the page's markup has it

  // --- axes: places from 0 to 1 and values

  const axis = (plot, name) => {
    const [scale, ...ends] = plot.dataset[name].split(" ");
    const [a, b, middle] = ends.map(Number);
    const linear = (from, to) => [(place) => from + (to - from) * place, (value) => (value - from) / (to - from)];
    let [value, place] = linear(a, b);
    if (scale === "log") {
      value = (place) => a * (b / a) ** place;
      place = (value) => Math.log(value / a) / Math.log(b / a);
    } else if (scale === "broken") {
      const [first, second] = [linear(a, middle), linear(middle, b)];
      value = (place) => place < 0.5 ? first[0](2 * place) : second[0](2 * place - 1);
      place = (value) => value < middle ? first[1](value) / 2 : 0.5 + second[1](value) / 2;
    }
    return { scale, from: a, to: b, quantity: plot.dataset[`${name}q`], value, place };
  };

  const plots = all(".plot").map((element) => {
    const data = element.querySelector(".data");
    const [, , width, height] = data.getAttribute("viewBox").split(" ").map(Number);
    const [x, y] = [axis(element, "x"), axis(element, "y")];
    return {
      element, data, width, height, x, y, span: [0, 1],
      sheet: element.querySelector(".sheet"),
      key: `${element.dataset.x} ${x.quantity}`,
    };
  });

  // --- values: read back from the paths, when they are first asked for

  function placesOf(path) {
    const places = [];
    let x = 0, y = 0;
    for (const [, command, numbers] of path.getAttribute("d").matchAll(/([a-zA-Z])([^a-zA-Z]*)/g)) {
      const values = (numbers.match(/-?\d+/g) ?? []).map(Number);
      if (command === "M") [x, y] = values;
      else if (command === "h") { x += values[0]; continue; }
      else if (command === "v") { y += values[0]; continue; }
      else if (command === "z") { continue; }
      else [x, y] = [x + values[0], y + values[1]];
      places.push([x, y]);
    }
    return places;
  }

  // An area's corner is where it began, which its own lines leave and come back to.
  function cornersOf(path) {
    const corners = [];
    let x = 0, y = 0;
    for (const [, command, a, b, width] of path.getAttribute("d").matchAll(/([Mm])(-?\d+)\s*(-?\d+)h(-?\d+)v-?\d+h-?\d+z/g)) {
      [x, y] = command === "M" ? [Number(a), Number(b)] : [x + Number(a), y + Number(b)];
      corners.push([x + Number(width) / 2, y]);
    }
    return corners;
  }

  function tracesOf(plot) {
    plot.traces ??= all("path[data-name]", plot.data).map((path) => {
      const isZero = "zero" in path.dataset;
      const places = (path.classList.contains("column") ? cornersOf : placesOf)(path);
      const points = places.map(([x, y]) => ({
        at: x / plot.width, up: 1 - y / plot.height,
        value: isZero ? 0 : plot.y.value(1 - y / plot.height),
      }));
      return { path, name: path.dataset.name, points: points.sort((a, b) => a.at - b.at) };
    });
    return plot.traces.filter((trace) => !trace.path.hasAttribute("hidden"));
  }

  // The level of each cell that is not empty.
  function cellsOf(plot) {
    if (plot.cells || !plot.element.dataset.cells) return plot.cells;
    const [columns, rows, x0, x1, y0, y1, full] = plot.element.dataset.cells.split(" ").map(Number);
    const level = new Int8Array(columns * rows).fill(-1);
    for (const path of all(".heat path", plot.data)) {
      const of = Number(path.getAttribute("class").slice(1));
      let x = 0, y = 0;
      for (const [, command, a, b, length] of path.getAttribute("d").matchAll(/([Mm])(-?\d+)\s*(-?\d+)h(\d+)/g)) {
        [x, y] = command === "M" ? [Number(a), Number(b)] : [x + Number(a), y + Number(b)];
        level.fill(of, y * columns + x, y * columns + x + Number(length));
        x += Number(length);
      }
    }
    const place = (axis, from, to) => [axis.place(from), axis.place(to)];
    plot.cells = { columns, rows, full, level, x: place(plot.x, x0, x1), y: place(plot.y, y0, y1) };
    return plot.cells;
  }

  const nearest = (points, at) => {
    let low = 0, high = points.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (points[middle].at < at) low = middle + 1; else high = middle;
    }
    const before = points[low - 1];
    return before && at - before.at < points[low].at - at ? before : points[low];
  };

  function nameOf(plot, at) {
    const value = plot.x.value(at);
    if (plot.x.scale !== "names") {
      const exact = /^seconds/.test(plot.x.quantity) && plot.x.to - plot.x.from < plot.width / 2;
      return say(exact ? Math.round(value) : value, plot.x.quantity);
    }
    const tick = plot.element.querySelector(`.tick.x text[data-v="${Math.round(value)}"]`);
    return tick ? tick.textContent : "";
  }

  // What a picture says at a place: lines of text, and where they are.
  function read(plot, at, up) {
    return cellsOf(plot) ? readCell(plot, at, up) : readPoints(plot, at);
  }

  function readPoints(plot, at) {
    const found = tracesOf(plot).filter((trace) => trace.points.length)
      .map((trace) => ({ trace, point: nearest(trace.points, at) }));
    if (!found.length) return null;
    const distance = ({ point }) => Math.abs(point.at - at);
    const closest = found.reduce((a, b) => distance(b) < distance(a) ? b : a).point.at;
    const shown = found.filter(({ point }) => Math.abs(point.at - closest) < 1.5 / plot.width + (plot.x.scale === "names" ? 0.02 : 0));
    const line = ({ trace, point }) => {
      const value = say(point.value, plot.y.quantity);
      return shown.length > 1 || trace.name !== plot.y.quantity ? `${trace.name}: ${value}` : value;
    };
    return { at: closest, rings: shown.map(({ point }) => point.up), text: [nameOf(plot, closest), ...shown.map(line)].join("\n") };
  }

  function readCell(plot, at, up) {
    const cells = cellsOf(plot);
    const share = (value, [from, to]) => (value - from) / (to - from);
    const column = Math.floor(share(at, cells.x) * cells.columns);
    const row = cells.rows - 1 - Math.floor(share(up, cells.y) * cells.rows);
    if (column < 0 || row < 0 || column >= cells.columns || row >= cells.rows) return null;
    const edge = (axis, ends, part) => axis.value(ends[0] + (ends[1] - ends[0]) * part);
    const middle = cells.x[0] + (cells.x[1] - cells.x[0]) * (column + 0.5) / cells.columns;
    const low = edge(plot.y, cells.y, (cells.rows - 1 - row) / cells.rows);
    const high = edge(plot.y, cells.y, (cells.rows - row) / cells.rows);
    const level = cells.level[row * cells.columns + column];
    const unit = plot.element.dataset.unit;
    const bound = (level) => number(cells.full * 10 ** ((level - 8) / 2), 1);
    const share0 = level < 0 ? "none" : level === 0 ? `under ${bound(1)} ${unit}` : `${bound(level)} to ${bound(level + 1)} ${unit}`;
    const from = edge(plot.x, cells.x, column / cells.columns);
    return {
      at: middle, rings: [cells.y[0] + (cells.y[1] - cells.y[0]) * (cells.rows - row - 0.5) / cells.rows],
      text: `${say(from, plot.x.quantity)}\n${say(low, plot.y.quantity)} to ${say(high, plot.y.quantity)}\n${share0}`,
      column, row,
    };
  }

  // --- crosshair, in all pictures of the same quantity

  const tip = document.body.appendChild(document.createElement("div"));
  tip.className = "tip";
  tip.hidden = true;
  const live = document.body.appendChild(document.createElement("div"));
  live.className = "unseen";
  live.setAttribute("aria-live", "polite");

  const make = (name, attributes, parent) => {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return parent.appendChild(element);
  };
  const percent = (share) => `${(share * 100).toFixed(3)}%`;
  const seen = (plot, at) => (at - plot.span[0]) / (plot.span[1] - plot.span[0]);
  let crossed = [];

  function uncross() {
    for (const element of crossed) element.remove();
    crossed = [];
    tip.hidden = true;
  }

  function cross(plot, reading) {
    uncross();
    const value = plot.x.value(reading.at);
    for (const other of plots) {
      if (other.x.quantity !== plot.x.quantity || !other.element.offsetParent) continue;
      const at = other === plot ? reading.at : other.x.place(value);
      const share = seen(other, at);
      if (!(share >= 0 && share <= 1)) continue;
      const x = percent(share);
      crossed.push(make("line", { class: "cross", x1: x, x2: x, y1: "0", y2: "100%" }, other.sheet));
    }
    for (const up of reading.rings) {
      crossed.push(make("circle", { class: "ring", cx: percent(seen(plot, reading.at)), cy: percent(1 - up), r: 5 }, plot.sheet));
    }
    show(plot, reading);
  }

  function show(plot, reading) {
    const box = plot.element.getBoundingClientRect();
    tip.textContent = reading.text;
    tip.hidden = false;
    const x = box.left + LEFT + seen(plot, reading.at) * (box.width - LEFT - RIGHT);
    const beside = x + 14 + tip.offsetWidth > document.documentElement.clientWidth ? x - 14 - tip.offsetWidth : x + 14;
    tip.style.left = `${Math.max(4, beside) + scrollX}px`;
    tip.style.top = `${box.top + ABOVE + 8 + scrollY}px`;
  }

  // --- zoom, of all pictures with the same x axis

  const keys = [...new Set(plots.map((plot) => plot.key))];
  const zooms = new Map();
  const undo = document.body.appendChild(document.createElement("button"));
  undo.type = "button";
  undo.className = "undo";
  undo.textContent = "Undo zoom (Esc)";
  undo.hidden = true;

  function zoom(key, spans) {
    if (spans.length) zooms.set(key, spans); else zooms.delete(key);
    for (const plot of plots) if (plot.key === key) stretch(plot, spans.at(-1) ?? [0, 1]);
    undo.hidden = zooms.size === 0;
    uncross();
    remember();
  }

  function back(key = [...zooms.keys()].at(-1)) {
    if (key !== undefined) zoom(key, (zooms.get(key) ?? []).slice(0, -1));
  }

  function closer(plot, from, to) {
    const least = 4 / plot.width;
    if (plot.x.scale === "names" || to - from < least) return;
    zoom(plot.key, [...(zooms.get(plot.key) ?? []), [Math.max(0, from), Math.min(1, to)]]);
  }

  function stretch(plot, span) {
    plot.span = span;
    const [from, to] = span;
    plot.data.setAttribute("viewBox", `${from * plot.width} 0 ${(to - from) * plot.width} ${plot.height}`);
    const whole = from === 0 && to === 1;
    plot.data.setAttribute("overflow", whole ? "visible" : "hidden");
    for (const mark of all("text.mark[data-v]", plot.sheet)) {
      const share = seen(plot, plot.x.place(Number(mark.dataset.v)));
      mark.setAttribute("x", percent(Math.min(1, Math.max(0, share))));
      mark.toggleAttribute("hidden", share < 0 || share > 1.02);
    }
    const grid = plot.sheet.querySelector(".grid.x"), names = plot.sheet.querySelector(".tick.x");
    plot.ticks ??= [grid.innerHTML, names.innerHTML];
    if (whole) [grid.innerHTML, names.innerHTML] = plot.ticks; else relabel(plot, grid, names);
  }

  function relabel(plot, grid, names) {
    grid.replaceChildren();
    names.replaceChildren();
    for (const value of ticks(plot)) {
      const x = percent(seen(plot, plot.x.place(value)));
      make("line", { x1: x, x2: x, y1: "0%", y2: "100%" }, grid);
      make("text", { x, y: "100%", dy: 19 }, names).textContent = brief(value, plot.x.quantity);
    }
  }

  const brief = (value, quantity) => /^seconds|ns$|^ns|bytes/.test(quantity) ? say(value, quantity).replace(" 00 s", "") : number(value, 4);

  function ticks(plot) {
    const [from, to] = plot.span.map(plot.x.value);
    const rough = (to - from) / (plot.element.clientWidth < 500 ? 4 : 6);
    const decade = 10 ** Math.floor(Math.log10(rough));
    const isTime = /^seconds/.test(plot.x.quantity) && rough > 10;
    const steps = isTime ? [20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 43200, 86400, 432000] : [1, 2, 5, 10].map((n) => n * decade);
    const step = steps.find((nice) => nice >= rough * 0.99) ?? rough;
    const first = Math.ceil(from / step);
    return Array.from({ length: Math.max(0, Math.floor(to / step) - first + 1) }, (_, index) => (first + index) * step);
  }

  // --- pointer and keyboard

  function pointed(plot, event) {
    const box = plot.element.getBoundingClientRect();
    const share = (event.clientX - box.left - LEFT) / (box.width - LEFT - RIGHT);
    const height = Number(plot.sheet.getAttribute("height"));
    const up = 1 - (event.clientY - box.top - ABOVE) / height;
    const [from, to] = plot.span;
    return { share, at: from + Math.min(1, Math.max(0, share)) * (to - from), up: Math.min(1, Math.max(0, up)) };
  }

  function listen(plot) {
    const { element, sheet } = plot;
    let begin = null, picked = null;
    const drop = () => { picked?.remove(); begin = picked = null; };
    element.addEventListener("pointermove", (event) => {
      const { at, up } = pointed(plot, event);
      if (begin !== null && Math.abs(seen(plot, at) - seen(plot, begin)) > 0.015) {
        picked ??= make("rect", { class: "picked", y: 0, height: "100%" }, sheet);
        const [left, right] = [seen(plot, begin), seen(plot, at)].sort((a, b) => a - b);
        picked.setAttribute("x", percent(left));
        picked.setAttribute("width", percent(right - left));
      }
      const reading = read(plot, at, up);
      if (reading) cross(plot, reading); else uncross();
    });
    element.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      begin = pointed(plot, event).at;
      element.setPointerCapture(event.pointerId);
    });
    element.addEventListener("pointerup", (event) => {
      const { at } = pointed(plot, event);
      const [from, to] = [Math.min(begin, at), Math.max(begin, at)];
      if (picked) closer(plot, from, to);
      drop();
    });
    element.addEventListener("pointercancel", drop);
    element.addEventListener("pointerleave", () => { if (begin === null) uncross(); });
    element.addEventListener("dblclick", () => zoom(plot.key, []));
    element.addEventListener("keydown", (event) => step(plot, event));
    element.addEventListener("blur", uncross);
    element.tabIndex = 0;
    element.setAttribute("role", "application");
    element.setAttribute("aria-roledescription", "picture");
    element.setAttribute("aria-label", `${sheet.ownerSVGElement.getAttribute("aria-label")} Arrow keys read its values, plus and minus zoom.`);
  }

  // The next place that has a value, from where the reader is.
  function step(plot, event) {
    const moves = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1], Home: [-Infinity, 0], End: [Infinity, 0] };
    const here = plot.reading?.at ?? (plot.span[0] + plot.span[1]) / 2;
    const width = plot.span[1] - plot.span[0];
    if (event.key === "+") closer(plot, here - width / 4, here + width / 4);
    else if (event.key === "-") back(plot.key);
    else if (moves[event.key]) {
      const reading = cellsOf(plot) ? stepCells(plot, moves[event.key]) : stepPoints(plot, moves[event.key][0]);
      if (!reading) return;
      plot.reading = reading;
      cross(plot, reading);
      live.textContent = reading.text.replaceAll("\n", "; ");
    } else return;
    event.preventDefault();
  }

  function stepPoints(plot, by) {
    const within = (at) => at >= plot.span[0] && at <= plot.span[1];
    const places = [...new Set(tracesOf(plot).flatMap((trace) => trace.points.map((point) => point.at)))].filter(within).sort((a, b) => a - b);
    if (!places.length || by === 0) return null;
    const now = plot.reading ? places.findIndex((at) => at >= plot.reading.at) : -1;
    const next = plot.reading || by < 0 ? now + by : 0;
    return readPoints(plot, places[Math.min(places.length - 1, Math.max(0, next))]);
  }

  function stepCells(plot, [across, down]) {
    const cells = cellsOf(plot);
    const centre = (column, row) => readCell(plot,
      cells.x[0] + (cells.x[1] - cells.x[0]) * (column + 0.5) / cells.columns,
      cells.y[0] + (cells.y[1] - cells.y[0]) * (cells.rows - row - 0.5) / cells.rows);
    const filled = (column, row) => cells.level[row * cells.columns + column] >= 0;
    let { column, row } = plot.reading ?? { column: -1, row: 0 };
    if (down) {
      do row += down; while (row >= 0 && row < cells.rows && !filled(column, row));
      return column >= 0 && row >= 0 && row < cells.rows ? centre(column, row) : null;
    }
    column = Math.min(cells.columns - 1, Math.max(0, column + across));
    // The slowest of the next moment.
    row = Array.from({ length: cells.rows }, (_, index) => index).find((index) => filled(column, index)) ?? row;
    return centre(column, row);
  }

  plots.forEach(listen);
  undo.addEventListener("click", () => back());
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") back(); });

  // --- which drives, which settings

  const kinds = ["subject", "setting"];
  const groups = all(".switch");
  const parts = kinds.map((kind) => all(`main [data-${kind}]`));
  const values = (kind) => [...new Set(all(`.switch[data-kind="${kind}"] button`).map((button) => button.dataset.value))].filter((value) => value !== "all");
  const known = Object.fromEntries(kinds.map((kind) => [kind, values(kind)]));
  const chosen = Object.fromEntries(kinds.map((kind) => [kind, new Set(known[kind])]));
  const isAll = (kind) => chosen[kind].size === known[kind].length;

  function apply() {
    for (const group of groups) {
      const kind = group.dataset.kind;
      for (const button of all("button", group)) {
        const { value } = button.dataset;
        button.setAttribute("aria-pressed", String(value === "all" ? isAll(kind) : chosen[kind].has(value)));
      }
    }
    const isShown = (part, kind) => part.dataset[kind] === undefined || isAll(kind) || chosen[kind].has(part.dataset[kind]);
    for (const part of new Set(parts.flat())) part.toggleAttribute("hidden", !kinds.every((kind) => isShown(part, kind)));
    uncross();
  }

  // From all to one, as most want; then one more, or one less, as often as they like.
  function choose(kind, value) {
    const set = chosen[kind];
    if (value === "all") known[kind].forEach((one) => set.add(one));
    else if (isAll(kind)) { set.clear(); set.add(value); }
    else if (set.has(value)) set.delete(value);
    else set.add(value);
    if (set.size === 0) known[kind].forEach((one) => set.add(one));
    apply();
    remember();
  }

  for (const group of groups) {
    for (const button of all("button", group)) button.addEventListener("click", () => choose(group.dataset.kind, button.dataset.value));
  }

  // --- the state in the address

  // Many drives are compared as they are sold; the reader adds the other settings.
  const figures = all("figure[data-setting]");
  const drives = (some) => new Set(some.map((figure) => figure.dataset.subject)).size;
  const sold = figures.filter((figure) => figure.dataset.setting === "0");
  const usual = drives(figures) > 1 && drives(sold) === drives(figures) ? ["0"] : known.setting;

  let at = "";
  let ready = false;
  const same = (set, list) => set.size === list.length && list.every((one) => set.has(one));

  function remember() {
    if (!ready) return;
    const state = [];
    if (!isAll("subject")) state.push(`drives=${[...chosen.subject].map((one) => Number(one) + 1).sort((a, b) => a - b)}`);
    if (!same(chosen.setting, usual)) state.push(`setting=${[...chosen.setting].sort()}`);
    const zoomed = [...zooms].map(([key, spans]) => {
      const axis = plots.find((plot) => plot.key === key).x;
      return [keys.indexOf(key), ...spans.at(-1).map((place) => Number(axis.value(place).toPrecision(6)))].join(":");
    });
    if (zoomed.length) state.push(`zoom=${zoomed}`);
    if (at && state.length) state.push(`at=${at}`);
    history.replaceState(null, "", state.length ? `#${state.join("&")}` : at ? `#${at}` : location.pathname + location.search);
  }

  function restore() {
    ready = false;
    const hash = decodeURIComponent(location.hash.slice(1));
    const state = new URLSearchParams(hash.includes("=") ? hash : "");
    at = hash.includes("=") ? state.get("at") ?? "" : hash;
    const pick = (kind, list, otherwise) => {
      const wanted = (list ?? "").split(",").filter((one) => known[kind].includes(one));
      chosen[kind] = new Set(wanted.length ? wanted : otherwise);
    };
    pick("subject", (state.get("drives") ?? "").split(",").map((one) => String(Number(one) - 1)).join(), known.subject);
    pick("setting", state.get("setting"), usual);
    apply();
    for (const key of [...zooms.keys()]) zoom(key, []);
    for (const one of (state.get("zoom") ?? "").split(",")) {
      const [index, from, to] = one.split(":").map(Number);
      const plot = plots.find((plot) => plot.key === keys[index]);
      const span = plot && [from, to].map(plot.x.place);
      if (span && span[1] > span[0]) zoom(plot.key, [span.map((place) => Math.min(1, Math.max(0, place)))]);
    }
    ready = true;
    if (hash.includes("=") && at) document.getElementById(at)?.scrollIntoView();
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (!link) return;
    at = link.getAttribute("href").slice(1);
    // After the browser went there.
    setTimeout(remember);
  });
  addEventListener("hashchange", () => { if (location.hash.slice(1) !== at) restore(); });
  restore();

  // --- where the reader is

  const contents = new Map(all(".contents a").map((link) => [link.getAttribute("href").slice(1), link]));
  const inView = new Set();
  const spy = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) if (isIntersecting) inView.add(target.id); else inView.delete(target.id);
    const here = [...contents.keys()].find((id) => inView.has(id));
    for (const [id, link] of contents) if (id === here) link.setAttribute("aria-current", "true"); else link.removeAttribute("aria-current");
  }, { rootMargin: "-10% 0% -60% 0%" });
  for (const id of contents.keys()) { const target = document.getElementById(id); if (target) spy.observe(target); }
})();
