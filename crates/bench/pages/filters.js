// Which drives are shown: the bar of filters, and what passes them.
const LISTS = [
  ["maker", "Maker"],
  ["interface", "Interface"],
  ["cell", "NAND"],
  ["controller", "Controller"],
];
const RANGES = [
  ["capacity", "Capacity, GB", (drive) => drive.gb],
  ["year", "Year", (drive) => drive.year],
  ["price", "Price, $", (drive) => drive.price],
];

// `100-200`, `100-`, `-200`; nothing else bounds anything.
function bounds(text) {
  const [, from, to] = /^(\d*\.?\d*)-(\d*\.?\d*)$/.exec(text ?? "") ?? [];
  return [from ? Number(from) : -Infinity, to ? Number(to) : Infinity];
}

function passes(chosen) {
  const words = (chosen.get("search") ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const lists = LISTS.filter(([name]) => chosen.get(name)).map(([name]) => [name, chosen.get(name)]);
  const ranges = RANGES.filter(([name]) => chosen.get(name)).map(([name, , value]) => [
    value,
    ...bounds(chosen.get(name)),
  ]);
  return (drive) =>
    words.every((word) => drive.search.includes(word)) &&
    lists.every(([name, wanted]) => drive[name] === wanted) &&
    ranges.every(([value, from, to]) => value(drive) !== null && value(drive) >= from && value(drive) <= to);
}

const filterCount = (chosen) => [...LISTS, ...RANGES].filter(([name]) => chosen.get(name)).length;

// Made once for a page: whoever types in it is not to lose it. `update` shows what the address says.
function filterBar() {
  const search = el("input", {
    type: "search",
    placeholder: "Name, maker, controller, NAND",
    autocomplete: "off",
    spellcheck: "false",
    input: () => choose({ search: search.value }, true),
  });
  const lists = LISTS.map(([name, label]) => {
    const select = el("select", { change: () => choose({ [name]: select.value }) });
    return { name, label, select };
  });
  const ranges = RANGES.map(([name, label]) => {
    const side = (words) =>
      el("input", {
        type: "number",
        min: 0,
        step: "any",
        inputmode: "decimal",
        placeholder: words,
        "aria-label": `${label}, ${words}`,
        input: () => choose({ [name]: from.value || to.value ? `${from.value}-${to.value}` : "" }, true),
      });
    const [from, to] = [side("from"), side("to")];
    return { name, label, from, to };
  });
  const summary = el("summary");
  const clear = el(
    "button",
    {
      type: "button",
      click: () => choose(Object.fromEntries([...LISTS, ...RANGES, ["search"]].map(([name]) => [name, ""]))),
    },
    "Clear all",
  );
  const group = ({ label, from, to }) =>
    el("div", { class: "field range", role: "group", "aria-label": label }, el("span", {}, label), from, to);
  const details = el(
    "details",
    { class: "filters" },
    summary,
    el(
      "div",
      { class: "fields" },
      lists.map(({ label, select }) => field(label, select)),
      ranges.map(group),
      clear,
    ),
  );
  const offer = ({ name, select }) => {
    const values = [...new Set(bench.drives.map((drive) => drive[name]).filter(Boolean))];
    values.sort((a, b) => a.localeCompare(b));
    select.replaceChildren(option("", "Any"), ...values.map((value) => option(value, value)));
  };
  let known = null;
  const update = (chosen) => {
    if (document.activeElement !== search) search.value = chosen.get("search") ?? "";
    // Looking through all drives takes a moment: once for each state of the library.
    if (known !== bench) lists.forEach(offer);
    known = bench;
    for (const { name, select } of lists) {
      const wanted = chosen.get(name) ?? "";
      select.value = wanted;
      if (select.value !== wanted) select.append(option(wanted, wanted, wanted));
    }
    for (const { name, from, to } of ranges) {
      const [, low = "", high = ""] = /^([^-]*)-(.*)$/.exec(chosen.get(name) ?? "") ?? [];
      if (document.activeElement !== from) from.value = low;
      if (document.activeElement !== to) to.value = high;
    }
    const count = filterCount(chosen);
    summary.textContent = count ? `Filters (${count})` : "Filters";
    clear.hidden = !count && !chosen.get("search");
  };
  return { element: el("div", { class: "narrow-down" }, field("Search drives", search), details), update };
}
