// Columns beside each other, the best of each line marked.

// `columns`: { name, note, doubts }. `lines`: { name, href, values, isMore (null: not ranked), say, of };
// `of` has for each value what told_apart.js reads, where the values are results.
function sideBySide(title, columns, lines, { words = "", label = title } = {}) {
  const best = lines.map((line) => (line.isMore === null ? null : ahead(line)));
  const cell = (line, at, value, column) => {
    const isBest = best[at]?.at === column;
    const star = isBest && el("span", { class: "star" }, " ★", best[at].factor && ` ${best[at].factor}×`);
    const of = line.of?.[column];
    return el(
      "td",
      { class: isBest ? "best" : null, "data-value": value, title: value === null ? null : String(value) },
      value === null ? "–" : line.say(value),
      star,
      of?.runs > 1 && el("small", {}, spreadOf(of)),
    );
  };
  const heads = columns.map(({ name, note, doubts }) =>
    columnHead(name, doubts?.length > 0 && [" ", doubtMark()], note && el("small", {}, note)),
  );
  const row = (line, at) =>
    el(
      "tr",
      {},
      el(
        "th",
        { scope: "row" },
        line.href ? link(line.href, line.name) : line.name,
        best[at]?.why && el("small", {}, best[at].why),
      ),
      line.values.map((value, column) => cell(line, at, value, column)),
    );
  const table = tableWith(["Figure", ...heads], lines.map(row));
  const along = () => ({
    name: slugOf(title),
    heads: ["Figure", ...columns.map(({ name, note }) => (note ? `${name} (${note})` : name))],
    lines: lines.map((line) => [line.name, ...line.values.map((value) => (value === null ? "" : value))]),
  });
  const said = () => ({
    ...along(),
    lines: lines.map((line, at) => [
      best[at]?.why ? `${line.name} (${best[at].why})` : line.name,
      ...line.values.map((value, column) =>
        value === null
          ? "–"
          : line.say(value) +
            (line.of?.[column]?.runs > 1 ? ` (${spreadOf(line.of[column])})` : "") +
            (best[at]?.at === column ? " ★" : ""),
      ),
    ]),
  });
  const warnings = columns.flatMap(({ name, doubts }) =>
    (doubts ?? []).map((doubt) => el("p", { class: "warning" }, el("b", {}, `${name}: `), doubt)),
  );
  return el(
    "section",
    { class: "table" },
    el("h3", {}, title),
    words && el("p", {}, words),
    warnings,
    scroll(label, table),
    takeAlong((form) => (form === "markdown" ? said() : along())),
  );
}

const slugOf = (text) =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "") || "table";

const spreadOf = ({ lowest, highest, runs }) => `${written(lowest)} to ${written(highest)}, ${runs} runs`;

// Which value is the best, and by which factor ahead of the next; or why that cannot be told; nothing if
// two are, or if there is but one.
function ahead({ values, isMore, of }) {
  const there = values
    .map((value, at) => ({ value, at }))
    .filter(({ value }) => value !== null)
    .sort((a, b) => (isMore ? b.value - a.value : a.value - b.value));
  if (there.length < 2 || there[0].value === there[1].value) return null;
  if (of && !there.slice(1).every((other) => areApart(of[there[0].at], of[other.at])))
    return { why: "not told apart" };
  if (of && !of[there[0].at].mayWin) return { why: "the best has doubts" };
  const [high, low] = isMore ? [there[0].value, there[1].value] : [there[1].value, there[0].value];
  const factor = low > 0 ? high / low : null;
  return {
    at: there[0].at,
    factor: factor && factor.toLocaleString("en-US", { maximumSignificantDigits: factor < 10 ? 3 : 2 }),
  };
}
