// A figure of a test, drive by drive, best first.

// So many rows at first; more when asked for.
const ROWS = 100;

function ranking() {
  const figure = figurePicker("", (id) => choose({ figure: id, conditions: "" }));
  const conditions = conditionsPicker();
  const filters = filterBar();
  const [head, list] = [el("div"), el("div", { class: "drawn" })];
  const element = el(
    "div",
    {},
    head,
    el("div", { class: "fields" }, figure.fields, conditions.fields),
    filters.element,
    list,
  );
  return {
    element,
    update: async (chosen) => {
      const metric = chosen.has("figure") ? bench.metric.get(chosen.get("figure")) : firstMetric();
      if (!metric) return unknown(chosen.has("figure") ? "figure" : "result", chosen.get("figure"));
      const groups = await results(metric);
      return () => {
        const now = chooseGroups(groups, chosen);
        figure.update(metric);
        conditions.update(groups, now, chosen);
        filters.update(chosen);
        const ranked = rank(now, metric, chosen);
        replace(head, heading(metric, now, ranked), mixedWarning(now));
        replace(
          list,
          ranked.length ? bars(metric, ranked, now.isMixed, chosen) : nothing(groups, now),
          otherConditions(metric, groups, now),
        );
        return `${figureName(metric)}, ${testName(metric).toLowerCase()}`;
      };
    },
  };
}

// The rows of the chosen groups that pass the filters, best first.
function rank({ groups }, metric, chosen) {
  const compare = better(metric);
  const all = groups.flatMap((group) => group.rows).filter((row) => row.median !== null);
  const shown = passes(chosen);
  return all
    .filter((row) => shown(row.drive))
    .sort(
      (a, b) =>
        compare(a.median, b.median) ||
        (a.drive.id < b.drive.id ? -1 : a.drive.id > b.drive.id ? 1 : 0) ||
        nameOf(a).localeCompare(nameOf(b)),
    );
}

function heading(metric, { groups, isMixed }, ranked) {
  const test = bench.test.get(metric.test);
  const of = metric.of && !metric.name.includes(metric.of) ? `, ${metric.of}` : "";
  const kind = isMixed || !groups.length ? "" : KINDS[groups[0].conditions.kind].toLowerCase();
  const words =
    groups.length && !isMixed
      ? ` ${capital([groups[0].conditions.words, ...reservations(groups[0].conditions)].join("; "))}.`
      : "";
  return [
    el("h1", { tabindex: -1 }, `${testName(metric)}: ${metric.name}${of}`),
    el(
      "p",
      { class: "lead" },
      test ? `${capital(test.question)} ` : "",
      `${many(ranked.length, `${kind} result`.trim())}, ${
        metric.judged ? `${isMore(metric) ? "more" : "less"} is better` : "which is no merit, more or less"
      }.${words}`,
    ),
  ];
}

const mixedWarning = ({ groups, isMixed }) =>
  isMixed &&
  el(
    "p",
    { class: "warning" },
    "Not a ranking: these results are of different kinds or were got under different conditions. " +
      `Every row says which. ${many(groups.length, "group")} of equal conditions are mixed here.`,
  );

const nothing = (groups, { groups: now }) =>
  el(
    "p",
    { class: "nothing" },
    now.length
      ? "No drive passes the filters."
      : groups.length
        ? "There are no results under these conditions. Choose others above."
        : "There are no results of this figure.",
  );

// What else there is of this figure, and what is not equal there.
function otherConditions(metric, groups, { groups: now }) {
  const others = groups.filter((group) => now.length === 1 && group !== now[0]);
  if (!others.length) return null;
  const item = (group) =>
    el(
      "li",
      {},
      link(
        to("ranking", { figure: metric.id, conditions: group.conditions.id }),
        `${KINDS[group.conditions.kind]}: ${groupName(group)}`,
      ),
      group.conditions.kind === now[0].conditions.kind &&
        el("small", {}, differences(group.conditions, now[0].conditions).join("; ")),
    );
  return el(
    "details",
    {},
    el("summary", {}, `Under other conditions: ${many(others.length, "group")} of results`),
    el("ul", {}, others.map(item)),
  );
}

// What the places say, where they do not say it by themselves.
const placesSaid = (ranked, places) => {
  const shared = places.some((place) => place && place[0] !== place[1]);
  const none = places.filter((place) => !place).length;
  const words = [
    shared &&
      "Places like 2–5 are not told apart: runs overlap, or lie no further from each other than runs of one drive do.",
    none > 0 && `${many(none, "result")} with doubts or without an end ${none === 1 ? "has" : "have"} no place.`,
  ].filter(Boolean);
  return ranked.length > 1 && words.length > 0 && el("p", { class: "places" }, words.join(" "));
};

const placeText = (place) => (place ? (place[0] === place[1] ? String(place[0]) : place.join("–")) : "–");

function bars(metric, ranked, isMixed, chosen) {
  const hasPlaces = !isMixed && metric.judged;
  const places = hasPlaces ? placesOf(ranked) : ranked.map(() => null);
  const most = ranked.reduce((most, row) => Math.max(most, row.highest), 0);
  const marks = new Set(marked(chosen));
  const item = (row, at) => bar(row, most, marks, isMixed, places[at]);
  const shownRows = chosen.get("rows") === "all" ? ranked : ranked.slice(0, ROWS);
  const rest = ranked.length - shownRows.length;
  const table = () => ({
    name: metric.id,
    heads: [
      "Place",
      "Drive",
      "Kind",
      "Conditions",
      metric.unit ? `${figureName(metric)}, ${metric.unit}` : figureName(metric),
      "Lowest",
      "Highest",
      "Results",
      "Doubts",
    ],
    lines: ranked.map((row, at) => [
      places[at] ? placeText(places[at]) : "",
      nameOf(row),
      row.conditions.kind,
      row.conditions.words,
      row.median,
      row.lowest,
      row.highest,
      row.runs,
      row.doubted ? "yes" : "no",
    ]),
  });
  return [
    compareMarked(marks),
    hasPlaces && placesSaid(ranked, places),
    el("ul", { class: "bars ranks", "aria-label": hasPlaces ? "Drives, best first" : "Drives" }, shownRows.map(item)),
    rest > 0 &&
      el(
        "button",
        { type: "button", "data-key": "more", click: () => choose({ rows: "all" }) },
        `Show the other ${rest.toLocaleString("en-US")}`,
      ),
    takeAlong(table),
  ];
}

const compareMarked = (marks) =>
  el(
    "p",
    { class: "marked" },
    marks.size > 1
      ? [
          link(
            to("compare", { drives: [...marks].slice(0, COMPARED_MAX).join(",") }),
            `Compare the ${Math.min(marks.size, COMPARED_MAX)} marked drives`,
          ),
          " ",
          el(
            "button",
            { type: "button", "data-key": "unmark", click: () => choose({ mark: "" }) },
            "Unmark all",
          ),
        ]
      : marks.size
        ? "One drive is marked: mark another to compare them."
        : "Mark drives to find them again everywhere, and to compare them.",
  );

function bar(row, most, marks, isMixed, place) {
  const { drive, conditions, metric } = row;
  const isMarked = marks.has(drive.id);
  const name = nameOf(row);
  return el(
    "li",
    {
      class: `${conditions.kind}${isMarked ? " is-marked" : ""}`,
      "data-drive": drive.id,
      "data-value": row.median,
      "data-place": placeText(place),
    },
    el(
      "button",
      {
        type: "button",
        class: "pin",
        "data-key": `pin-${drive.id}-${row.variant ?? ""}-${conditions.id}`,
        "aria-pressed": String(isMarked),
        "aria-label": `Mark ${name}`,
        title: "Mark",
        click: () => toggleMark(drive.id),
      },
      isMarked ? "●" : "○",
    ),
    el(
      "span",
      { class: "name" },
      !isMixed && [el("span", { class: "place" }, placeText(place)), " "],
      link(toDrive(drive), name),
      isMixed && [" ", mark(conditions.kind)],
      row.doubted && [" ", doubtMark()],
      (isMixed || row.note) &&
        el("small", {}, [isMixed && conditions.words, row.note].filter(Boolean).join("; ")),
    ),
    barPicture(row, most),
    el(
      "b",
      { title: `${row.median} ${metric.unit}`.trim() },
      shown(row.median, metric.unit),
      row.runs > 1 &&
        el("small", {}, `${written(row.lowest)} to ${written(row.highest)}, median of ${row.runs}`),
    ),
  );
}

const doubtMark = () =>
  el("abbr", { class: "mark doubted", title: "There are doubts about it: see the drive's page" }, "doubts");

// Stretched to the width that there is; the range of several results as a line across its end.
function barPicture({ median, lowest, highest, runs }, most) {
  const at = (value) => (most > 0 ? (Math.max(0, value) / most) * 1000 : 0);
  const range =
    runs > 1 &&
    highest > lowest &&
    svg("path", {
      class: "range",
      "vector-effect": "non-scaling-stroke",
      d: `M${at(lowest)} 5H${at(highest)}`,
    });
  return svg(
    "svg",
    { viewBox: "0 0 1000 10", preserveAspectRatio: "none", width: "100%", height: 16, "aria-hidden": "true" },
    svg("rect", { width: at(median), height: 10 }),
    range,
  );
}
