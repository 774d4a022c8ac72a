// All that is known of one drive.

function drive() {
  const element = el("div");
  return {
    element,
    update: async (chosen, id) => {
      if (!bench.drive.has(id)) return unknown("drive", id);
      const drive = bench.drive.get(id);
      const about = await aboutDrive(drive);
      const run = about.runs.find((run) => run.id === chosen.get("run"));
      if (chosen.has("run") && !run) return unknown("run", chosen.get("run"));
      const pictured = run?.pictured ? run : courseRuns(about)[0];
      const course = pictured ? await pictures(pictured) : [];
      return () => {
        replace(
          element,
          driveHead(drive, about),
          tiles(drive, about),
          drivePictures(drive, pictured, course),
          specification(drive, about),
          figuresOf(drive, about),
          publishedOf(about),
          runsOf(about, run),
          profileOf(about),
        );
        if (run) document.querySelector(`#run-${CSS.escape(run.id)}`)?.scrollIntoView();
        return drive.name;
      };
    },
  };
}

function driveHead(drive, about) {
  const kinds = Object.keys(KINDS).filter((kind) => drive[kind] > 0);
  const count = (kind) =>
    kind === "published" ? many(drive.published, "published figure") : many(drive[kind], `${kind} run`);
  const isMarked = marked(address().chosen).includes(drive.id);
  const isModel = kinds.includes("simulated");
  return [
    el("h1", { tabindex: -1 }, drive.name),
    el(
      "p",
      { class: "lead" },
      [
        drive.maker,
        drive.gb && shown(drive.gb, "GB"),
        drive.rotates && "magnetic disk",
        drive.interface,
        drive.cell,
        drive.year,
      ]
        .filter(Boolean)
        .join(" · "),
    ),
    el(
      "p",
      { class: "lead" },
      `${kinds.map(count).join(", ") || "No results"}.`,
      isModel &&
        " Simulated figures are predictions of a model, not measurements of a drive.",
    ),
    el(
      "p",
      { class: "actions" },
      el(
        "button",
        {
          type: "button",
          "data-key": "mark",
          "aria-pressed": String(isMarked),
          click: () => toggleMark(drive.id),
        },
        isMarked ? "Marked" : "Mark",
      ),
      " ",
      link(
        to("compare", {
          drives: [...new Set([drive.id, ...marked(address().chosen)])].slice(0, COMPARED_MAX).join(","),
        }),
        "Compare it",
      ),
      " ",
      link(to("ranking", { mark: drive.id }), "See it in the ranking"),
      reportsOf(about)
        .slice(0, 1)
        .map((report) => [" ", link(report, "Its report")]),
    ),
  ];
}

const reportsOf = (about) => [...new Set(about.runs.map((run) => run.report).filter(Boolean))];

// --- in figures

const TILES = ["steady mean", "steady floor / mean", "steady latency p99.9", "fresh"];

function tiles(drive, about) {
  const standard = about.values.filter(
    (entry) => bench.condition.get(entry.conditions).standard && !entry.variant,
  );
  const tile = (name) => {
    const metric = consistency(name);
    const id = metric?.id;
    const entry = metric && standard.find((one) => id in one.figures);
    if (!entry) return null;
    const kind = bench.condition.get(entry.conditions).kind;
    return el(
      "li",
      {},
      el("span", { class: "name" }, figureName(metric)),
      link(
        to("ranking", { figure: id, conditions: entry.conditions, mark: drive.id }),
        el("b", {}, shown(entry.figures[id][0], metric.unit)),
      ),
      el("span", { class: "note" }, kind, doubtsOf(about, entry).length > 0 && [" ", doubtMark()]),
    );
  };
  const price =
    drive.price !== null &&
    drive.gb > 0 &&
    el(
      "li",
      {},
      el("span", { class: "name" }, "Price per GB"),
      el("b", {}, dollars(drive.price / drive.gb)),
      el("span", { class: "note" }, [dollars(drive.price), drive.price_of].filter(Boolean).join(", ")),
    );
  const all = [...TILES.map(tile), price].filter(Boolean);
  return all.length > 0 && el("ul", { class: "tiles", "aria-label": "In figures" }, all);
}

function drivePictures(drive, run, course) {
  if (!course.length) return null;
  const axes = courseAxes(course);
  const { kind, test, words } = bench.condition.get(run.conditions);
  return el(
    "section",
    { class: "view" },
    el("h2", {}, `How it went: ${test}`),
    el(
      "p",
      {},
      `${KINDS[kind]}, ${words}. The middle second of each stretch as a line, from the lowest to the highest second as an area.`,
    ),
    el(
      "div",
      { class: course.length === 1 ? "plots alone" : "plots" },
      course.map((picture) =>
        coursePicture(course.length === 1 ? `${drive.name} (${kind})` : picture.name, picture, axes),
      ),
    ),
  );
}

function specification(drive, about) {
  const known = [
    ["Maker", drive.maker],
    [
      "Capacity",
      drive.capacity && `${shown(drive.gb, "GB")} (${drive.capacity.toLocaleString("en-US")} bytes)`,
    ],
    ["Interface", drive.interface],
    ["Form factor", drive.form_factor],
    ["NAND", drive.nand],
    ["Controller", drive.controller],
    ["First sold", drive.year],
    ["Price", drive.price !== null && [dollars(drive.price), drive.price_of].filter(Boolean).join(", ")],
    ...about.specification,
  ];
  return details(
    "Specification",
    known.filter(([, value]) => value),
    "h2",
  );
}

const details = (title, pairs, tag) =>
  pairs.length > 0 &&
  el(
    "section",
    { class: "table" },
    el(tag, {}, title),
    el(
      "dl",
      {},
      pairs.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))),
    ),
  );

// --- figures, with the median and the spread of all runs under equal conditions

function figuresOf(drive, about) {
  const ours = about.values.filter((entry) => bench.condition.get(entry.conditions).kind !== "published");
  return testsThere().map((test) => {
    const entries = ours.filter((entry) => bench.condition.get(entry.conditions).test === test);
    entries.sort(
      (a, b) => bench.condition.get(b.conditions).standard - bench.condition.get(a.conditions).standard,
    );
    return (
      entries.length > 0 &&
      el(
        "section",
        { class: "test" },
        el("h2", {}, testName({ test })),
        bench.test.has(test) && el("p", {}, capital(bench.test.get(test).question)),
        entries.map((entry, at) => figureTable(drive, about, entry, at === 0)),
      )
    );
  });
}

function figureTable(drive, about, entry, isOpen) {
  const conditions = bench.condition.get(entry.conditions);
  const metrics = bench.metrics.filter((metric) => metric.id in entry.figures);
  const several = metrics.some((metric) => entry.figures[metric.id][3] > 1);
  const title = [`${KINDS[conditions.kind]}: ${conditions.words}`, ...reservations(conditions), entry.variant]
    .filter(Boolean)
    .join("; ");
  const row = (metric) => {
    const [median, lowest, highest, runs] = entry.figures[metric.id];
    const value = (number) =>
      el("td", { "data-value": number, title: String(number) }, shown(number, metric.unit));
    return el(
      "tr",
      {},
      el(
        "th",
        { scope: "row" },
        link(
          to("ranking", { figure: metric.id, conditions: conditions.id, mark: drive.id }),
          figureName(metric),
        ),
      ),
      value(median),
      several && [value(lowest), value(highest), el("td", {}, runs)],
    );
  };
  const heads = several ? ["Figure", "Median", "Lowest", "Highest", "Runs"] : ["Figure", "Value"];
  const lines = metrics.map((metric) => [
    figureName(metric),
    metric.unit,
    ...entry.figures[metric.id].slice(0, 4),
  ]);
  return el(
    "details",
    { class: "more", open: isOpen },
    el("summary", {}, title),
    doubtsOf(about, entry).map((doubt) => el("p", { class: "warning" }, doubt)),
    scroll(`${conditions.test}: ${title}`, tableWith(heads, metrics.map(row))),
    takeAlong((form) => ({
      name: `${drive.id}-${conditions.test}`,
      heads: ["Figure", "Unit", "Median", "Lowest", "Highest", "Runs"],
      lines:
        form === "csv" ? lines : lines.map(([name, unit, ...values]) => [name, unit, ...values.map(written)]),
    })),
  );
}

function publishedOf(about) {
  if (!about.published.length) return null;
  const row = (one) => {
    const metric = bench.metric.get(one.metric);
    return el(
      "tr",
      {},
      el(
        "th",
        { scope: "row" },
        link(to("ranking", { figure: metric.id, conditions: one.conditions }), figureName(metric)),
      ),
      el(
        "td",
        { "data-value": one.value },
        [one.bound, shown(one.value, metric.unit)].filter(Boolean).join(" "),
      ),
      el(
        "td",
        { class: "meaning" },
        [one.rated && "the maker's rating", one.condition].filter(Boolean).join("; "),
      ),
      el("td", { class: "meaning" }, one.url ? outside(one.url, one.source) : one.source),
    );
  };
  return el(
    "section",
    { class: "test" },
    el("h2", {}, "Published"),
    el(
      "p",
      {},
      "What others printed, in their words. Their tests are not ours, so that these figures are not ranked with ours.",
    ),
    scroll("Published", tableWith(["Figure", "Value", "How", "Source"], about.published.map(row))),
    takeAlong(() => ({
      name: "published",
      heads: ["Figure", "Value", "Unit", "How", "Source", "Address"],
      lines: about.published.map((one) => {
        const metric = bench.metric.get(one.metric);
        return [
          figureName(metric),
          one.value,
          metric.unit,
          [one.bound, one.rated && "the maker's rating", one.condition].filter(Boolean).join("; "),
          one.source,
          one.url ?? "",
        ];
      }),
    })),
  );
}
