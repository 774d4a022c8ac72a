// The results. They come in files that are scripts, since a page from a disk may read no others: an
// index first, and what a page is about when it is asked for.
const arrived = new Map(); // name of a file to what to do with its content
const files = new Map(); // name of a file to the promise of its content

globalThis.writecliffBench = (name, content) => {
  arrived.get(name)?.(content);
  arrived.delete(name);
};

function load(name) {
  if (!files.has(name))
    files.set(
      name,
      new Promise((resolve, reject) => {
        arrived.set(name, resolve);
        const script = el("script", { src: `data/${name}.js` });
        script.addEventListener("load", () => script.remove());
        script.addEventListener("error", () => {
          script.remove();
          files.delete(name);
          reject(
            new Error(
              `The file data/${name}.js cannot be loaded. Is the folder complete, and is Bench still being served?`,
            ),
          );
        });
        document.head.append(script);
      }),
    );
  return files.get(name);
}

// A column that has few different values has them once: the values, and where each row's is.
const column = (data) =>
  Array.isArray(data) ? data : data.at.map((at) => (at === null ? null : data.of[at]));
const rows = (columns) => {
  const names = Object.keys(columns);
  const whole = names.map((name) => column(columns[name]));
  return (whole[0] ?? []).map((_, row) =>
    Object.fromEntries(names.map((name, at) => [name, whole[at][row]])),
  );
};

// The index, as pages use it.
let bench;

async function open(name) {
  const index = await load(name);
  const byId = (list) => new Map(list.map((one) => [one.id, one]));
  const next = {
    drives: rows(index.drives),
    tests: index.tests,
    metrics: rows(index.metrics),
    conditions: index.conditions,
    problems: index.problems,
  };
  next.drive = byId(next.drives);
  next.metric = byId(next.metrics);
  next.condition = byId(next.conditions);
  next.test = byId(next.tests);
  for (const drive of next.drives) {
    drive.search = [drive.name, drive.maker, drive.controller, drive.nand, drive.interface, drive.cell]
      .filter(Boolean)
      .join(" ")
      .toLowerCase();
    drive.gb = drive.capacity === null ? null : drive.capacity / 1e9;
  }
  bench = next;
}

// All results of a metric, in groups of equal conditions, those that a ranking shows first in front.
async function results(metric) {
  const { groups } = await load(`figures-${metric.id}-${metric.file}`);
  const all = groups.map((group) => ({
    conditions: bench.condition.get(group.conditions),
    rows: rowsOf(group, metric),
  }));
  return all.sort((a, b) => b.conditions.standard - a.conditions.standard || b.rows.length - a.rows.length);
}

function rowsOf(group, metric) {
  const conditions = bench.condition.get(group.conditions);
  return group.drives.map((id, at) => ({
    drive: bench.drive.get(id),
    variant: group.variants?.[at] ?? null,
    conditions,
    metric,
    median: group.median[at],
    lowest: (group.lowest ?? group.median)[at],
    highest: (group.highest ?? group.median)[at],
    runs: group.runs?.[at] ?? 1,
    doubted: group.doubted?.includes(at) ?? false,
    mayWin: !group.unfit?.includes(at),
    note: group.notes?.[at] ?? null,
  }));
}

const aboutDrive = (drive) => load(`drive-${drive.id}-${drive.file}`);
// The courses of a run, thinned.
const pictures = (run) => (run.pictured ? load(`run-${run.id}`) : Promise.resolve([]));

const isMore = (metric) => metric.good === "at-least";
const better = (metric) => (a, b) => (isMore(metric) ? b - a : a - b);
const nameOf = (row) => (row.variant ? `${row.drive.name} (${row.variant})` : row.drive.name);
const figureName = (metric) => capital(metric.name);
const testName = (metric) =>
  metric.test === "published" ? "Published elsewhere" : capital(metric.test.replaceAll("-", " "));

const KINDS = { simulated: "Simulated", measured: "Measured", published: "Published" };
// What is to be known of results under conditions that are not the usual ones.
const reservations = (conditions) =>
  [conditions.quick && "quick: not a result", conditions.unfinished && "unfinished"].filter(Boolean);
// What is not equal in two conditions, in words.
function differences(one, other) {
  const keys = [...new Set([...Object.keys(one.parts), ...Object.keys(other.parts)])].sort();
  return keys
    .filter((key) => one.parts[key] !== other.parts[key])
    .map((key) => {
      const [mine, theirs] = [one.parts[key], other.parts[key]];
      const name = key.replaceAll("_", " ");
      if (theirs === undefined) return `${name}: ${mine}`;
      return mine === undefined ? `without ${name}: ${theirs}` : `${name}: ${mine} instead of ${theirs}`;
    });
}
