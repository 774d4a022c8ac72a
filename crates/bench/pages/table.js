// Everything: a line for each drive under each conditions, a column for each figure of a test.

const LINES = 100;

function table() {
  const tests = el("select", { change: () => choose({ test: tests.value, sort: "", conditions: "" }) });
  const kinds = el("select", { change: () => choose({ kind: kinds.value }) });
  const filters = filterBar();
  const [head, place] = [el("div"), el("div")];
  const element = el(
    "div",
    {},
    head,
    el("div", { class: "fields" }, field("Test", tests), field("Kind", kinds)),
    filters.element,
    place,
  );
  return {
    element,
    update: async (chosen) => {
      const test = chosen.get("test") ?? firstMetric()?.test;
      if (!testsThere().includes(test)) return unknown("test", test);
      const metrics = bench.metrics.filter((metric) => metric.test === test);
      const all = await tableOf(metrics);
      return () => {
        filters.update(chosen);
        tests.replaceChildren(...testsThere().map((one) => option(one, testName({ test: one }), test)));
        kinds.replaceChildren(
          option("", "All", chosen.get("kind") ?? ""),
          ...Object.entries(KINDS).map(([kind, name]) => option(kind, name, chosen.get("kind") ?? "")),
        );
        const shows = passes(chosen),
          kind = chosen.get("kind") in KINDS ? chosen.get("kind") : null;
        const lines = sorted(
          all.filter((line) => shows(line.drive) && (!kind || line.conditions.kind === kind)),
          chosen,
        );
        replace(
          head,
          el("h1", { tabindex: -1 }, `Everything: ${testName({ test }).toLowerCase()}`),
          el(
            "p",
            { class: "lead" },
            `${many(lines.length, "line")}. Each says its kind and its conditions; only those that are equal can be ranked together.`,
          ),
        );
        replace(place, everything(test, metrics, lines, chosen), problems());
        return `Everything: ${testName({ test }).toLowerCase()}`;
      };
    },
  };
}

// All results of these figures: lines of equal drive, variant and conditions.
async function tableOf(metrics) {
  const lines = new Map();
  const all = await Promise.all(metrics.map(results));
  for (const row of all.flat().flatMap((group) => group.rows)) {
    const key = JSON.stringify([row.drive.id, row.variant, row.conditions.id]);
    if (!lines.has(key))
      lines.set(key, {
        drive: row.drive,
        name: nameOf(row),
        conditions: row.conditions,
        runs: row.runs,
        doubted: false,
        values: new Map(),
      });
    const line = lines.get(key);
    line.values.set(row.metric.id, row.median);
    line.doubted ||= row.doubted;
  }
  return [...lines.values()];
}

const COLUMNS = {
  name: (line) => line.name,
  kind: (line) => line.conditions.kind,
  conditions: (line) => line.conditions.words,
};

function sorted(lines, chosen) {
  const [, down, by] = /^(-?)(.*)$/.exec(chosen.get("sort") || "name");
  const value = COLUMNS[by] ?? ((line) => line.values.get(by) ?? null);
  const sign = down ? -1 : 1;
  const compare = (a, b) => {
    const [one, two] = [value(a), value(b)];
    // What has no value comes last in any order.
    if (one === null || two === null) return (one === null) - (two === null);
    return sign * (typeof one === "string" ? one.localeCompare(two, "en", { numeric: true }) : one - two);
  };
  const id = (line) => `${line.drive.id} ${line.name} ${line.conditions.id}`;
  return [...lines].sort((a, b) => compare(a, b) || (id(a) < id(b) ? -1 : 1));
}

function everything(test, metrics, lines, chosen) {
  const now = chosen.get("sort") || "name";
  const sorting = (by, text, unit, first) => {
    const order = now === by ? "ascending" : now === `-${by}` ? "descending" : null;
    const next = order ? (order === "ascending" ? `-${by}` : by) : first + by;
    return el(
      "th",
      { scope: "col", "aria-sort": order },
      el("button", { type: "button", "data-key": `sort-${by}`, click: () => choose({ sort: next }) }, text),
      unit && el("span", { class: "unit" }, unit),
    );
  };
  const cell = (line, metric) => {
    const value = line.values.get(metric.id) ?? null;
    return el(
      "td",
      { "data-value": value, title: value === null ? null : String(value) },
      value === null ? "–" : written(value),
    );
  };
  const line = (one) =>
    el(
      "tr",
      { "data-drive": one.drive.id },
      el("th", { scope: "row" }, link(toDrive(one.drive), one.name), one.doubted && [" ", doubtMark()]),
      el("td", {}, one.conditions.kind),
      el("td", { class: "meaning" }, [one.conditions.words, ...reservations(one.conditions)].join("; ")),
      metrics.map((metric) => cell(one, metric)),
    );
  const listed = chosen.get("rows") === "all" ? lines : lines.slice(0, LINES);
  const heads = [
    sorting("name", "Drive", "", ""),
    sorting("kind", "Kind", "", ""),
    sorting("conditions", "Conditions", "", ""),
    ...metrics.map((metric) => sorting(metric.id, figureName(metric), metric.unit, isMore(metric) ? "-" : "")),
  ];
  const whole = tableWith(heads, listed.map(line), { class: "everything" });
  const along = () => ({
    name: `bench-${test}`,
    heads: [
      "Drive",
      "Kind",
      "Conditions",
      "In doubt",
      ...metrics.map((metric) =>
        metric.unit ? `${figureName(metric)}, ${metric.unit}` : figureName(metric),
      ),
    ],
    lines: lines.map((one) => [
      one.name,
      one.conditions.kind,
      one.conditions.words,
      one.doubted ? "yes" : "no",
      ...metrics.map((metric) => one.values.get(metric.id) ?? null),
    ]),
  });
  return lines.length
    ? [
        el("div", { class: "take-along" }, takeAlong(along), everyTest()),
        scroll("Everything", whole),
        lines.length > listed.length &&
          el(
            "button",
            { type: "button", "data-key": "more", click: () => choose({ rows: "all" }) },
            `Show the other ${(lines.length - listed.length).toLocaleString("en-US")}`,
          ),
      ]
    : el("p", { class: "nothing" }, "Nothing passes the filters.");
}

// Every figure of every test as one long list.
const everyTest = () =>
  el(
    "button",
    {
      type: "button",
      "data-key": "every",
      click: async () => {
        const all = (await Promise.all(bench.metrics.map(results)))
          .flat()
          .flatMap((group) => group.rows)
          .filter((row) => row.median !== null);
        const heads = [
          "drive",
          "variant",
          "kind",
          "conditions",
          "standard",
          "test",
          "figure",
          "unit",
          "median",
          "lowest",
          "highest",
          "results",
          "in doubt",
        ];
        save(
          "bench.csv",
          csv(
            heads,
            all.map((row) => [
              row.drive.name,
              row.variant,
              row.conditions.kind,
              row.conditions.words,
              String(row.conditions.standard),
              row.metric.test,
              row.metric.name,
              row.metric.unit,
              row.median,
              row.lowest,
              row.highest,
              row.runs,
              row.doubted ? "yes" : "no",
            ]),
          ),
        );
      },
    },
    "Save every figure of every test as CSV",
  );

const problems = () =>
  bench.problems.length > 0 &&
  el(
    "section",
    { class: "table" },
    el("h2", {}, "Not shown"),
    el("p", {}, "These are in the library and cannot be read. What is to be done stands beside each."),
    el(
      "ul",
      {},
      bench.problems.map((problem) => el("li", {}, problem)),
    ),
  );
