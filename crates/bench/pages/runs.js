// The runs of a drive, each with its figures and its conditions, and what a simulated one is built of.

const STATUS = {
  complete: "complete",
  running: "still running",
  interrupted: "interrupted",
  failed: "failed",
  "cut-off": "cut off before its end",
};

function runsOf(about, chosen) {
  if (!about.runs.length) return null;
  return el(
    "section",
    { class: "test" },
    el("h2", {}, "Runs"),
    about.runs.map((run) => runPart(run, run === chosen)),
  );
}

function runPart(run, isOpen) {
  const conditions = bench.condition.get(run.conditions);
  const name = [
    conditions.test,
    run.label,
    run.started ? run.started.slice(0, 10) : run.catalogue ? "of the catalogue" : null,
    STATUS[run.status],
  ]
    .filter(Boolean)
    .join(", ");
  const figures = Object.entries(run.figures).map(([id, value]) => {
    const metric = bench.metric.get(id);
    return el(
      "div",
      {},
      el("dt", {}, figureName(metric)),
      el("dd", { "data-figure": id, "data-value": value, title: String(value) }, shown(value, metric.unit)),
    );
  });
  const pairs = [
    [
      "Conditions",
      [`${KINDS[conditions.kind]}: ${conditions.words}`, ...reservations(conditions)].join("; "),
    ],
    ["Variant", run.variant],
    ["Began", run.started],
    ["The same as", run.same_as && `run ${run.same_as}, number for number: the two count as one`],
    ["Seed", String(run.seed)],
    ["Writecliff", run.version],
    ["Status", run.error ? `failed: ${run.error}` : STATUS[run.status]],
    ...Object.entries(conditions.parts).map(([key, value]) => [capital(key.replaceAll("_", " ")), value]),
  ].filter(([, value]) => value);
  return el(
    "details",
    { id: `run-${run.id}`, open: isOpen },
    el("summary", {}, name),
    run.doubts.map((doubt) => el("p", { class: "warning" }, doubt)),
    el(
      "p",
      {},
      link(to("drive", { run: run.id }, address().id), "Link to this run"),
      run.report && [" · ", link(run.report, "Its report")],
    ),
    el(
      "dl",
      {},
      pairs.map(([key, value]) => el("div", {}, el("dt", {}, key), el("dd", {}, value))),
    ),
    el("h3", {}, "Its figures"),
    el("dl", {}, figures),
  );
}

const profileOf = (about) =>
  about.profile &&
  el(
    "section",
    { class: "test" },
    el("h2", {}, "The model"),
    el(
      "p",
      {},
      "What the simulated drive is built of. ",
      el("code", {}, `writecliff review sim:${about.profile.name}`),
      " runs it.",
    ),
    el(
      "details",
      {},
      el("summary", {}, `${about.profile.name}.toml`),
      scroll("Profile", el("pre", {}, about.profile.text)),
    ),
  );
