// How a run went, second by second: of every stretch of time the lowest, the middle and the highest.

// The runs whose course is worth a picture, each conditions' latest in front.
const withCourse = (about) => about.runs.filter((run) => run.pictured && run.status === "complete");

// The last three tenths of a run, where it is steady if it ever is; `first` is the stretch it begins with.
function lastPart(picture) {
  const first = Math.floor(picture.stretches.length * 0.7);
  return { ...picture, first, stretches: picture.stretches.slice(first) };
}

// One axis for all of them: pictures beside each other can be compared.
function courseAxes(pictures, { log = true } = {}) {
  const begin = ({ seconds, first = 0 }) => first * seconds;
  const end = ({ seconds, first = 0, stretches }) => (first + stretches.length) * seconds;
  const values = pictures.flatMap((picture) => picture.stretches.flat());
  const unit = pictures[0]?.unit ?? "";
  return {
    x: {
      from: Math.min(...pictures.map(begin)),
      to: Math.max(1, ...pictures.map(end)),
      log: false,
      isTime: true,
      name: "time",
      say: clock,
    },
    y: { ...axisOf(values, { log, name: log ? `${unit}, logarithmic` : unit, say: short }) },
  };
}

const clock = (seconds) =>
  seconds === 0
    ? "0"
    : seconds % 3600 === 0
      ? `${seconds / 3600} h`
      : seconds % 60 === 0
        ? `${seconds / 60} min`
        : `${seconds} s`;

function coursePicture(title, picture, axes) {
  const { seconds, stretches, unit } = picture;
  const middles = stretches.map(([, middle]) => middle);
  const last = lastPart(picture)
    .stretches.map(([, middle]) => middle)
    .sort((a, b) => a - b);
  const label = `${title}: ${unit} over ${time(seconds * stretches.length)}. Over its first ${time(seconds)} the middle is ${written(middles[0] ?? 0)}, and in the last part ${written(last[last.length >> 1] ?? 0)}`;
  return el(
    "figure",
    {},
    el("figcaption", {}, title),
    chart({ label, ...axes, height: 260, draw: (place, x, y) => drawCourse(place, x, y, picture) }),
  );
}

function drawCourse(place, x, y, { seconds, first = 0, stretches, unit }) {
  const middle = (at) => x((first + at + 0.5) * seconds);
  const up = stretches.map(([, , high], at) => `${middle(at).toFixed(1)} ${y(high).toFixed(1)}`);
  const down = stretches.map(([low], at) => `${middle(at).toFixed(1)} ${y(low).toFixed(1)}`).reverse();
  const line = stretches.map(([, half], at) => `${middle(at).toFixed(1)} ${y(half).toFixed(1)}`);
  const dead = stretches.flatMap(([low], at) => (low > 0 ? [] : [at]));
  place.append(
    svg("path", { class: "between", d: `M${[...up, ...down].join("L")}Z` }),
    svg("path", { class: "course", d: `M${line.join("L")}` }),
    ...dead.map((at) => svg("circle", { class: "dead", cx: middle(at), cy: y(0), r: 2.5 })),
  );
  return stretches.map(([low, half, high], at) => ({
    x: middle(at),
    y: y(half),
    flat: true,
    text: `${time((first + at) * seconds)}${seconds > 1 ? ` to ${time((first + at + 1) * seconds)}` : ""}\n${low === high ? "" : "middle "}${shown(half, unit)}${low === high ? "" : `\n${written(low)} to ${written(high)}`}`,
  }));
}
