// The address holds all that was chosen: `#ranking?figure=consistency-steady-mean&mark=a,b`. A link
// to it shows the same, and back goes to what was chosen before.
const address = () => {
  const [place, query = ""] = location.hash.slice(1).split(/\?(.*)/s);
  const [page, id = ""] = place.split(/\/(.*)/s);
  return { page: page || "ranking", id: decode(id), chosen: new URLSearchParams(query) };
};
const decode = (text) => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

// The address of a page with these choices, empty ones left out.
function to(page, choices = {}, id = "") {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(choices))
    if (value !== undefined && value !== null && value !== "") query.set(name, value);
  const text = query.toString().replaceAll("%2C", ",");
  return `#${page}${id && `/${encodeURIComponent(id)}`}${text && `?${text}`}`;
}
const toDrive = (drive) => to("drive", {}, drive.id);

// Changes some choices of this page. While somebody types, back is not to stop at every letter.
function choose(changes, isTyping = false) {
  const { page, id, chosen } = address();
  const next = to(page, { ...Object.fromEntries(chosen), ...changes }, id);
  if (next === location.hash) return;
  history[isTyping ? "replaceState" : "pushState"](null, "", next);
  render();
}

// Drives that a reader has marked: highlighted everywhere, and what Compare compares.
const marked = (chosen) => (chosen.get("mark") ?? "").split(",").filter(Boolean);
function toggleMark(id) {
  const all = marked(address().chosen);
  choose({ mark: (all.includes(id) ? all.filter((one) => one !== id) : [...all, id]).join(",") });
}
// What pages share goes along from one to the other.
const SHARED = [
  "mark",
  "search",
  "kind",
  "maker",
  "interface",
  "cell",
  "controller",
  "capacity",
  "year",
  "price",
];
const along = (chosen) =>
  Object.fromEntries(SHARED.filter((name) => chosen.has(name)).map((name) => [name, chosen.get(name)]));
