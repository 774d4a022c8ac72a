// Any figure over any other.

// What a drive is itself, beside its figures.
const PROPERTIES = {
  "price-per-gb": {
    name: "Price per GB",
    unit: "$",
    good: "at-most",
    value: (drive) => (drive.price !== null && drive.gb ? drive.price / drive.gb : null),
  },
  price: { name: "Price", unit: "$", good: "at-most", value: (drive) => drive.price },
  capacity: { name: "Capacity", unit: "GB", good: "at-least", value: (drive) => drive.gb },
  year: { name: "Year", unit: "", value: (drive) => drive.year, say: String },
};

function scatter() {
  const sides = [sidePicker("x", "Across"), sidePicker("y", "Up")];
  const filters = filterBar();
  const [head, scales, place] = [
    el("div"),
    el("div", { class: "switch settings", role: "group", "aria-label": "Axes" }),
    el("div"),
  ];
  const conditions = el(
    "details",
    { class: "filters" },
    el("summary", {}, "Conditions"),
    sides.map((side) => side.conditions),
  );
  const element = el(
    "div",
    {},
    head,
    el(
      "div",
      { class: "fields" },
      sides.map((side) => side.field),
      scales,
    ),
    conditions,
    filters.element,
    place,
  );
  return {
    element,
    update: async (chosen) => {
      const picked = { x: chosen.get("x") ?? "price-per-gb", y: chosen.get("y") ?? firstMetric()?.id };
      const wrong = Object.values(picked).find((id) => !(id in PROPERTIES) && !bench.metric.has(id));
      if (wrong !== undefined) return unknown("figure", wrong);
      const [x, y] = await Promise.all(["x", "y"].map((side) => sideOf(side, picked[side], chosen)));
      return () => {
        [x, y].forEach((side, at) => sides[at].update(side, chosen));
        filters.update(chosen);
        conditions.hidden = !x.groups && !y.groups;
        const title = `${y.name} over ${small(x.name)}`;
        replace(scales, scaleButton("x", "Across", chosen), scaleButton("y", "Up", chosen));
        const dots = joined(x, y, passes(chosen)).filter(
          (dot) => !(isLog("x", chosen) && dot.x <= 0) && !(isLog("y", chosen) && dot.y <= 0),
        );
        replace(head, scatterHead(title, x, y, dots));
        replace(
          place,
          dots.length
            ? [cloud(title, x, y, dots, chosen), dotTable(title, x, y, dots)]
            : el("p", { class: "nothing" }, "No drive has both, or none passes the filters."),
        );
        return title;
      };
    },
  };
}

const isLog = (side, chosen) => chosen.get(`${side}scale`) !== "linear";
const scaleButton = (side, words, chosen) =>
  el(
    "button",
    {
      type: "button",
      "data-key": `${side}scale`,
      "aria-pressed": String(isLog(side, chosen)),
      click: () => choose({ [`${side}scale`]: isLog(side, chosen) ? "linear" : "" }),
    },
    `${words}: logarithmic`,
  );

function sidePicker(side, words) {
  const select = el("select", {
    change: () => choose({ [side]: select.value, [`conditions${side}`]: "", [`kind${side}`]: "" }),
  });
  const picker = conditionsPicker(side);
  const conditions = el(
    "div",
    { class: "fields", role: "group", "aria-label": `${words}: conditions` },
    el("span", {}, words),
    picker.fields,
  );
  const update = (now, chosen) => {
    const tests = testsThere().map((test) =>
      el(
        "optgroup",
        { label: testName({ test }) },
        bench.metrics
          .filter((metric) => metric.test === test)
          .map((metric) => option(metric.id, figureName(metric), now.id)),
      ),
    );
    select.replaceChildren(
      el(
        "optgroup",
        { label: "The drive itself" },
        Object.entries(PROPERTIES).map(([id, { name }]) => option(id, name, now.id)),
      ),
      ...tests,
    );
    conditions.hidden = !now.groups;
    if (now.groups) picker.update(now.groups, now.picked, chosen);
  };
  return { field: field(words, select), conditions, update };
}

async function sideOf(side, id, chosen) {
  if (id in PROPERTIES) return { id, ...PROPERTIES[id] };
  const metric = bench.metric.get(id);
  const groups = await results(metric);
  const picked = chooseGroups(groups, chosen, side);
  return {
    id,
    name: `${figureName(metric)}${metric.name.includes(testName(metric)) ? "" : ` (${testName(metric).toLowerCase()})`}`,
    unit: metric.unit,
    good: metric.good,
    groups,
    picked,
    rows: picked.groups.flatMap((group) => group.rows).filter((row) => row.median !== null),
  };
}

// A dot for each drive that has both; of two figures, of the same variant of a drive.
function joined(x, y, shows) {
  const of = (row, value) => ({
    drive: row.drive,
    name: nameOf(row),
    conditions: row.conditions,
    mayWin: row.mayWin,
    ...value,
  });
  const key = (row) => JSON.stringify([row.drive.id, row.variant]);
  const all =
    x.rows && y.rows
      ? pairs(x.rows, y.rows, key, of)
      : x.rows
        ? x.rows.map((row) => of(row, { x: row.median, y: y.value(row.drive) }))
        : y.rows
          ? y.rows.map((row) => of(row, { x: x.value(row.drive), y: row.median }))
          : bench.drives.map((drive) => ({
              drive,
              name: drive.name,
              conditions: null,
              x: x.value(drive),
              y: y.value(drive),
            }));
  return all
    .filter((dot) => dot.x !== null && dot.y !== null && shows(dot.drive))
    .sort((a, b) => a.x - b.x || a.y - b.y || (a.drive.id < b.drive.id ? -1 : 1));
}

function pairs(across, up, key, of) {
  const other = Map.groupBy(across, key);
  return up.flatMap((row) =>
    (other.get(key(row)) ?? []).map((one) =>
      of(row, { x: one.median, y: row.median, mayWin: one.mayWin && row.mayWin }),
    ),
  );
}

// Whether results may be held against each other at all.
const isMixed = (x, y) => {
  const groups = [x, y].flatMap((side) => side.picked?.groups ?? []);
  const kinds = new Set(groups.map((group) => group.conditions.kind));
  return kinds.size > 1 || Boolean(x.picked?.isMixed || y.picked?.isMixed);
};

// Dots that no other beats in both, the best across first; none where a side has no better end.
function frontier(x, y, dots) {
  if (!x.good || !y.good || isMixed(x, y)) return [];
  const [signX, signY] = [x, y].map((side) => (side.good === "at-least" ? -1 : 1));
  const sorted = dots
    .filter((dot) => dot.mayWin !== false)
    .sort((a, b) => signX * (a.x - b.x) || signY * (a.y - b.y));
  let best = Infinity;
  return sorted.filter((dot) => {
    const isBest = signY * dot.y < best;
    if (isBest) best = signY * dot.y;
    return isBest;
  });
}

function scatterHead(title, x, y, dots) {
  const groups = [x, y].flatMap((side) => side.picked?.groups ?? []);
  const words = [
    ...new Set(
      groups.map(
        ({ conditions }) =>
          `${KINDS[conditions.kind].toLowerCase()}, ${[conditions.words, ...reservations(conditions)].join("; ")}`,
      ),
    ),
  ];
  return [
    el("h1", { tabindex: -1 }, title),
    el(
      "p",
      { class: "lead" },
      `${many(dots.length, "result")}. ${words.length && words.length < 4 ? `${capital(words.join("; "))}.` : ""}${
        frontier(x, y, dots).length > 1 ? " The line joins those without doubts that no other such beats in both." : ""
      }`,
    ),
    isMixed(x, y) &&
      el(
        "p",
        { class: "warning" },
        "Mixed: these results are of different kinds or were got under different conditions, and are not to be ranked.",
      ),
  ];
}

function cloud(title, x, y, dots, chosen) {
  const marks = new Set(marked(chosen));
  const unbeaten = frontier(x, y, dots);
  const isUnbeaten = new Set(unbeaten);
  const axis = (side, name) =>
    axisOf(
      dots.map((dot) => dot[name]),
      {
        log: isLog(name, chosen),
        fromZero: side.id !== "year",
        name: [side.name, side.unit].filter(Boolean).join(", "),
        say: side.say ?? short,
      },
    );
  const text = (dot) =>
    `${dot.name}${dot.conditions ? ` (${dot.conditions.kind})` : ""}\n${x.name}: ${x.say?.(dot.x) ?? shown(dot.x, x.unit)}\n${y.name}: ${y.say?.(dot.y) ?? shown(dot.y, y.unit)}`;
  const draw = (place, atX, atY) =>
    dots.map((dot) => {
      const [cx, cy] = [atX(dot.x), atY(dot.y)];
      const isMarked = marks.has(dot.drive.id);
      place.append(
        svg("circle", {
          class: `dot ${dot.conditions?.kind ?? ""}${isMarked ? " is-marked" : ""}`,
          cx,
          cy,
          r: isMarked ? 6.5 : 4.5,
          "data-drive": dot.drive.id,
          "data-x": dot.x,
          "data-y": dot.y,
        }),
      );
      const name = (isMarked || isUnbeaten.has(dot)) && dot.name;
      return { x: cx, y: cy, text: text(dot), href: toDrive(dot.drive), name, isMarked };
    });
  const line = (place, atX, atY) => {
    const points = unbeaten.map((dot) => `${atX(dot.x)},${atY(dot.y)}`).join(" ");
    if (unbeaten.length > 1) place.append(svg("polyline", { class: "frontier", points }));
  };
  // Names above all dots, of those that are marked first, and none over another.
  const named = (place, points) => {
    const right = place.ownerSVGElement.viewBox.baseVal.width;
    const there = [];
    for (const { x, y, name } of points.filter(({ name }) => name).sort((a, b) => b.isMarked - a.isMarked)) {
      const half = name.length * 3.6;
      const box = { x: Math.min(Math.max(x, half), right - half), y: y - 10, half };
      if (there.some((other) => Math.abs(other.y - box.y) < 15 && Math.abs(other.x - box.x) < other.half + half))
        continue;
      there.push(box);
      place.append(svg("text", { class: "dot-name", x: box.x, y: box.y, "text-anchor": "middle" }, name));
    }
    return points;
  };
  return el(
    "div",
    { class: "cloud" },
    chart({
      label: `${title}: ${many(dots.length, "drive")}`,
      x: axis(x, "x"),
      y: axis(y, "y"),
      height: 460,
      draw: (place, atX, atY) => {
        line(place, atX, atY);
        return named(place, draw(place, atX, atY));
      },
    }),
  );
}

function dotTable(title, x, y, dots) {
  const unit = (side) => (side.unit ? `${side.name}, ${side.unit}` : side.name);
  const heads = ["Drive", unit(x), unit(y)];
  const row = (dot) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, link(toDrive(dot.drive), dot.name)),
      el("td", {}, (x.say ?? written)(dot.x)),
      el("td", {}, (y.say ?? written)(dot.y)),
    );
  return el(
    "details",
    {},
    el("summary", {}, "The same as a table"),
    scroll(title, tableWith(heads, dots.map(row))),
    takeAlong(() => ({
      name: slugOf(title),
      heads,
      lines: dots.map((dot) => [dot.name, dot.x, dot.y]),
    })),
  );
}
