// Which figure, and under which conditions: the two choices that make a ranking.

// A figure of the consistency test by its name, which stays from version to version.
const consistency = (name) => bench.metrics.find((one) => one.test === "consistency" && one.name === name);
// The figure that a page begins with, and that a price is held against.
const STEADY = "steady mean";
const firstMetric = () =>
  consistency(STEADY) ?? bench.metrics.find((metric) => metric.judged) ?? bench.metrics[0];
const testsThere = () => [...new Set(bench.metrics.map((metric) => metric.test))];

const metricOptions = (metrics, chosen) => {
  const settings = [...new Set(metrics.map((metric) => metric.of))];
  const options = (of) =>
    metrics
      .filter((metric) => metric.of === of)
      .map((metric) => option(metric.id, figureName(metric), chosen));
  return settings.flatMap((of) =>
    of === null || settings.length === 1 ? options(of) : [el("optgroup", { label: of }, options(of))],
  );
};

// Two selects, a test's and its figure's; `pick` is told the figure's id.
function figurePicker(words, pick) {
  const tests = el("select", {
    change: () => {
      const all = bench.metrics.filter((metric) => metric.test === tests.value);
      pick((all.find((metric) => metric.judged) ?? all[0]).id);
    },
  });
  const figures = el("select", { change: () => pick(figures.value) });
  const update = (metric) => {
    tests.replaceChildren(...testsThere().map((test) => option(test, testName({ test }), metric.test)));
    figures.replaceChildren(
      ...metricOptions(
        bench.metrics.filter((one) => one.test === metric.test),
        metric.id,
      ),
    );
  };
  return {
    fields: [
      field(words ? `${words}: test` : "Test", tests),
      field(words ? `${words}: figure` : "Figure", figures),
    ],
    update,
  };
}

// The groups that a reader has chosen of a metric's: those of one kind under equal conditions, or all
// of them mixed, which nothing may be concluded from.
function chooseGroups(groups, chosen, name = "") {
  const [kind, conditions] = [chosen.get(`kind${name}`), chosen.get(`conditions${name}`)];
  if (kind === "mixed")
    return { groups: groups.filter(({ conditions: one }) => !reservations(one).length), isMixed: true };
  const exact = groups.find((group) => group.conditions.id === conditions);
  if (conditions) return { groups: exact ? [exact] : [], isMixed: false };
  const first = groups.find((group) => !kind || group.conditions.kind === kind);
  return { groups: first ? [first] : [], isMixed: false };
}

const groupName = ({ conditions, rows }) =>
  `${[conditions.words, ...reservations(conditions)].join("; ")} (${many(rows.length, "result")})`;

// Buttons for the kinds that there are, and a select for the conditions within one.
function conditionsPicker(name = "") {
  const buttons = el("div", {
    class: "switch settings kinds",
    role: "group",
    "aria-label": "Kind of results",
  });
  const select = el("select", {
    change: () => choose({ [`conditions${name}`]: select.value, [`kind${name}`]: "" }),
  });
  const label = field("Conditions", select);
  const update = (groups, { groups: now, isMixed }, chosen) => {
    const wanted = isMixed ? "mixed" : (now[0]?.conditions.kind ?? chosen.get(`kind${name}`));
    const button = (value, text) =>
      el(
        "button",
        {
          type: "button",
          "data-key": `kind-${value}`,
          "aria-pressed": String(value === wanted),
          click: () => choose({ [`kind${name}`]: value, [`conditions${name}`]: "" }),
        },
        text,
      );
    const there = Object.keys(KINDS).filter((kind) => groups.some((group) => group.conditions.kind === kind));
    const mixed = groups.filter(({ conditions }) => !reservations(conditions).length).length > 1;
    replace(
      buttons,
      there.map((kind) => button(kind, KINDS[kind])),
      mixed && button("mixed", "Mixed"),
    );
    const own = groups.filter((group) => group.conditions.kind === wanted);
    select.replaceChildren(
      ...own.map((group) => option(group.conditions.id, groupName(group), now[0]?.conditions.id)),
    );
    label.hidden = own.length < 2 || isMixed;
  };
  return { fields: [buttons, label], update };
}
