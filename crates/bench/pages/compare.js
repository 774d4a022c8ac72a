// Two to six drives, every figure side by side.

const COMPARED_MAX = 6;

function compare() {
  const element = el("div");
  return {
    element,
    update: async (chosen) => {
      const isChosen = chosen.has("drives") || chosen.has("mark");
      const ids = (isChosen ? (chosen.get("drives") ?? chosen.get("mark")) : (await firstTwo()).join(","))
        .split(",")
        .filter(Boolean)
        .slice(0, COMPARED_MAX);
      const missing = ids.find((id) => !bench.drive.has(id));
      if (missing !== undefined) return unknown("drive", missing);
      const drives = ids.map((id) => bench.drive.get(id));
      const about = await Promise.all(drives.map(aboutDrive));
      const courses = await coursesOf(drives, about);
      return () => {
        replace(
          element,
          compareHead(drives),
          chips(drives, chosen),
          drives.length > 1
            ? compared(drives, about, courses, chosen)
            : el("p", { class: "nothing" }, "Add a drive, and another one to compare it with."),
        );
        return drives.length ? `${drives.map((drive) => drive.name).join(", ")} compared` : "Compare";
      };
    },
  };
}

// Where nobody was chosen: the drive with the best worst second, and the one in the middle.
async function firstTwo() {
  const metric = consistency("steady floor");
  if (!metric) return [];
  const { groups } = chooseGroups(await results(metric), new Map(), "");
  const rows = groups.flatMap((group) => group.rows).filter((row) => row.mayWin && row.median !== null);
  rows.sort((a, b) => b.median - a.median);
  const ids = [...new Set(rows.map((row) => row.drive.id))];
  return [...new Set([ids[0], ids[Math.floor(ids.length / 2)]])].filter(Boolean);
}

const compareHead = (drives) => [
  el("h1", { tabindex: -1 }, drives.length > 1 ? `${drives.length} drives compared` : "Compare drives"),
  el(
    "p",
    { class: "lead" },
    "Figures stand in one table only if they were got under equal conditions. ★ marks the best, with the factor by which it is ahead of the next: none where runs overlap or lie no further apart than runs of one drive do, and never what has doubts.",
  ),
];

function chips(drives, chosen) {
  const ids = drives.map((drive) => drive.id);
  const set = (next) => choose({ drives: next.join(",") });
  const add = el(
    "select",
    { "data-key": "add", change: () => set([...ids, add.value]) },
    option("", "Choose…", ""),
    bench.drives.filter((drive) => !ids.includes(drive.id)).map((drive) => option(drive.id, drive.name)),
  );
  const chip = (drive) =>
    el(
      "li",
      {},
      link(toDrive(drive), drive.name),
      el(
        "button",
        {
          type: "button",
          "data-key": `drop-${drive.id}`,
          "aria-label": `Remove ${drive.name}`,
          click: () => set(ids.filter((id) => id !== drive.id)),
        },
        "×",
      ),
    );
  const shownAs = (name, text) =>
    el(
      "button",
      {
        type: "button",
        "data-key": name,
        "aria-pressed": String(chosen.get(name) === "1"),
        click: () => choose({ [name]: chosen.get(name) === "1" ? "" : "1" }),
      },
      text,
    );
  return [
    el("ul", { class: "chips", "aria-label": "Drives compared" }, drives.map(chip)),
    el(
      "div",
      { class: "fields" },
      drives.length < COMPARED_MAX && field("Add a drive", add),
      drives.length > 1 &&
        el(
          "div",
          { class: "switch settings", role: "group", "aria-label": "Shown" },
          shownAs("every", "Every figure"),
          shownAs("mixed", "Across different conditions"),
        ),
    ),
  ];
}

function compared(drives, about, courses, chosen) {
  const names = drives.map((drive) => drive.name);
  return [coursePictures(names, courses, chosen), money(drives, about), ...tests(drives, about, chosen)];
}

// --- price

// The steady mean that a price is held against: one kind's, which it says, and in no doubt.
function steadyOf(about) {
  const steady = consistency(STEADY)?.id;
  const order = ["measured", "simulated", "published"];
  const usable = about.values.filter(
    (entry) =>
      steady in entry.figures &&
      bench.condition.get(entry.conditions).standard &&
      entry.figures[steady][5] === 0,
  );
  usable.sort(
    (a, b) =>
      order.indexOf(bench.condition.get(a.conditions).kind) -
      order.indexOf(bench.condition.get(b.conditions).kind),
  );
  return (
    usable[0] && { iops: usable[0].figures[steady][0], kind: bench.condition.get(usable[0].conditions).kind }
  );
}

const dollars = (value) =>
  `$${value.toLocaleString("en-US", { maximumFractionDigits: 2, minimumFractionDigits: value < 10 ? 2 : 0 })}`;

function money(drives, about) {
  const steady = about.map(steadyOf);
  const same = new Set(steady.filter(Boolean).map((one) => one.kind)).size === 1;
  const priced = (value) => (drive, at) => (drive.price === null ? null : value(drive, at));
  const quantities = [
    ["Price", priced((drive) => drive.price), null],
    ["Price per GB", priced((drive) => drive.gb && drive.price / drive.gb), false],
    [
      "Price per 1,000 steady IOPS",
      priced((drive, at) => (steady[at]?.iops > 0 ? (drive.price / steady[at].iops) * 1000 : null)),
      same ? false : null,
    ],
  ];
  if (drives.every((drive) => drive.price === null)) return null;
  const note = (drive, at) =>
    [drive.price_of, steady[at] && `steady IOPS ${steady[at].kind}`].filter(Boolean).join("; ");
  const lines = quantities.map(([name, value, isMore]) => ({
    name,
    values: drives.map((drive, at) => value(drive, at) ?? null),
    isMore,
    say: dollars,
  }));
  return sideBySide(
    "Price",
    drives.map((drive, at) => ({ name: drive.name, note: note(drive, at) })),
    lines,
    { words: "Prices are those of the day that is named, in US dollars. None is held against steady IOPS that are in doubt." },
  );
}

// --- tests

// What is to be doubted of these figures of a drive, each doubt once.
const doubtsOf = (about, entry) => [
  ...new Set(
    about.runs
      .filter((run) => run.conditions === entry.conditions && run.variant === entry.variant)
      .flatMap((run) => run.doubts),
  ),
];

// For each test the groups of equal conditions that at least two of the drives have.
function tests(drives, about, chosen) {
  const own = about.map((one) => one.values);
  return testsThere().map((test) => {
    const entries = own.map((values) =>
      values.filter((entry) => Object.keys(entry.figures).some((id) => bench.metric.get(id).test === test)),
    );
    if (entries.every((all) => !all.length)) return null;
    const tables =
      chosen.get("mixed") === "1"
        ? [acrossConditions(test, drives, about, entries, chosen)]
        : equalConditions(test, drives, about, entries, chosen);
    return el("section", { class: "test" }, el("h2", {}, testName({ test })), tables);
  });
}

function equalConditions(test, drives, about, entries, chosen) {
  const ids = [...new Set(entries.flat().map((entry) => entry.conditions))];
  const groups = ids.map((id) => ({
    conditions: bench.condition.get(id),
    of: entries.map(
      (all) =>
        all.find((entry) => entry.conditions === id && !entry.variant) ??
        all.find((entry) => entry.conditions === id),
    ),
  }));
  const shared = groups
    .filter(({ of }) => of.filter(Boolean).length > 1)
    .sort(
      (a, b) =>
        b.of.filter(Boolean).length - a.of.filter(Boolean).length ||
        b.conditions.standard - a.conditions.standard,
    );
  const alone = groups.filter((group) => !shared.includes(group));
  const said = ({ conditions, of }) => {
    const other = groups.find(
      (group) => group.conditions !== conditions && group.conditions.kind === conditions.kind,
    );
    return [
      `${drives[of.findIndex(Boolean)].name}: ${KINDS[conditions.kind].toLowerCase()}, ${conditions.words}`,
      other && el("small", {}, differences(conditions, other.conditions).join("; ")),
    ];
  };
  const rest =
    alone.length > 0 &&
    el(
      "details",
      {},
      el("summary", {}, `Not comparable: ${many(alone.length, "result")} of one drive alone`),
      el(
        "ul",
        {},
        alone.map((group) => el("li", {}, said(group))),
      ),
    );
  const none =
    !shared.length &&
    el(
      "p",
      {},
      "No two of these drives did this test under the same conditions, so that nothing is ranked. “Across different conditions” shows the figures beside each other all the same.",
    );
  return [
    ...shared.map((group) =>
      groupTable(
        test,
        drives,
        about,
        group.of,
        chosen,
        `${KINDS[group.conditions.kind]}: ${[group.conditions.words, ...reservations(group.conditions)].join("; ")}`,
      ),
    ),
    none,
    rest,
  ];
}

function acrossConditions(test, drives, about, entries, chosen) {
  const of = entries.map(
    (all) =>
      [...all].sort(
        (a, b) => bench.condition.get(b.conditions).standard - bench.condition.get(a.conditions).standard,
      )[0],
  );
  const same = new Set(of.filter(Boolean).map((entry) => entry.conditions)).size === 1;
  return groupTable(
    test,
    drives,
    about,
    of,
    chosen,
    same ? "Equal conditions" : "Different conditions: nothing is ranked",
    !same,
  );
}

// A figure of a drive's file, as told_apart.js reads it.
const resultOf = (figure) =>
  figure && {
    median: figure[0],
    lowest: figure[1],
    highest: figure[2],
    runs: figure[3],
    mayWin: figure[4] === 1,
  };

function groupTable(test, drives, about, of, chosen, title, isMixed = false) {
  const metrics = bench.metrics.filter(
    (metric) => metric.test === test && of.some((entry) => entry && metric.id in entry.figures),
  );
  const telling = metrics.filter((metric) => metric.judged);
  const listed = chosen.get("every") === "1" || !telling.length ? metrics : telling;
  const note = (entry) =>
    entry
      ? [
          entry.variant,
          isMixed &&
            `${bench.condition.get(entry.conditions).kind}, ${bench.condition.get(entry.conditions).words}`,
        ]
          .filter(Boolean)
          .join("; ")
      : "";
  const lines = listed.map((metric) => ({
    name: figureName(metric),
    href: to("ranking", {
      figure: metric.id,
      conditions: isMixed ? "" : of.find(Boolean).conditions,
      mark: drives.map((drive) => drive.id).join(","),
    }),
    values: of.map((entry) => entry?.figures[metric.id]?.[0] ?? null),
    of: of.map((entry) => resultOf(entry?.figures[metric.id])),
    isMore: isMixed || !metric.judged ? null : isMore(metric),
    say: (value) => shown(value, metric.unit),
  }));
  return sideBySide(
    title,
    drives.map((drive, at) => ({
      name: drive.name,
      note: note(of[at]),
      doubts: of[at] && doubtsOf(about[at], of[at]),
    })),
    lines,
    { label: `${testName({ test })}: ${title}` },
  );
}

// --- how they went

// What there is to see of a drive's course: by spare area, the picture and the run that it is of.
async function coursesOf(drives, about) {
  return Promise.all(
    about.map(async (one) => {
      const runs = courseRuns(one);
      const all = await Promise.all(runs.map(pictures));
      const course = new Map();
      all.forEach((some, at) =>
        some.forEach((picture) => {
          if (!course.has(picture.name)) course.set(picture.name, { picture, run: runs[at] });
        }),
      );
      return course;
    }),
  );
}

// The runs whose courses stand for a drive: the best of the consistency test, the best of spare areas.
function courseRuns(about) {
  const best = (test) =>
    withCourse(about)
      .filter((run) => bench.condition.get(run.conditions).test === test)
      .sort(
        (a, b) =>
          bench.condition.get(b.conditions).standard - bench.condition.get(a.conditions).standard,
      )[0];
  return ["consistency", "spare-area"].map(best).filter(Boolean);
}

function coursePictures(names, courses, chosen) {
  const settings = [...new Set(courses.flatMap((course) => [...course.keys()]))].filter(
    (name) => courses.filter((course) => course.has(name)).length > 1,
  );
  if (!settings.length) return null;
  const setting = settings.find((name) => name === chosen.get("spare")) ?? settings[0];
  const isSteady = chosen.get("part") === "steady";
  const there = courses.map((course) => course.get(setting));
  const shown = there.map((one) => one && (isSteady ? lastPart(one.picture) : one.picture));
  const axes = courseAxes(shown.filter(Boolean), { log: !isSteady });
  const conditions = new Set(there.filter(Boolean).map(({ run }) => run.conditions));
  const said =
    conditions.size > 1 ? "These runs were not under the same conditions." : "The axes are the same.";
  return el(
    "section",
    { class: "view" },
    el("h2", {}, "How they went"),
    el(
      "p",
      {},
      `Random writes, over time: the middle second of each stretch as a line, from the lowest to the highest second as an area. ${said}`,
    ),
    el(
      "div",
      { class: "fields" },
      oneOf("Part", "part", ["", "steady"], isSteady ? "steady" : "", { "": "Whole run", steady: "Last 30 %" }),
      settings.length > 1 && oneOf("Spare area", "spare", settings, setting),
    ),
    el(
      "div",
      { class: "plots" },
      shown.map(
        (picture, at) =>
          picture &&
          coursePicture(
            `${names[at]} (${bench.condition.get(there[at].run.conditions).kind})`,
            picture,
            axes,
          ),
      ),
    ),
  );
}

// Buttons of which one is pressed; the choice is in the address.
const oneOf = (label, key, values, now, words = {}) =>
  el(
    "div",
    { class: "switch settings", role: "group", "aria-label": label },
    values.map((value) =>
      el(
        "button",
        {
          type: "button",
          "data-key": `${key}-${value}`,
          "aria-pressed": String(value === now),
          click: () => choose({ [key]: value }),
        },
        words[value] ?? capital(value),
      ),
    ),
  );
