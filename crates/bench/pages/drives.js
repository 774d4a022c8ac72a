// All drives that there are results of.

function drives() {
  const filters = filterBar();
  const list = el("div");
  const head = el("h1", { tabindex: -1 }, "Drives");
  return {
    element: el("div", {}, head, filters.element, list),
    update: async (chosen) => () => {
      filters.update(chosen);
      const all = bench.drives
        .filter(passes(chosen))
        .sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
      const kinds = (drive) =>
        Object.keys(KINDS)
          .filter((kind) => drive[kind] > 0)
          .map((kind) => [mark(kind), " "]);
      const item = (drive) =>
        el(
          "li",
          {},
          link(toDrive(drive), drive.name),
          " ",
          kinds(drive),
          el(
            "small",
            {},
            [drive.interface, drive.nand, drive.controller, drive.year].filter(Boolean).join(" · "),
          ),
        );
      replace(
        list,
        el("p", { class: "lead" }, `${many(all.length, "drive")}.`),
        el("ul", { class: "drives" }, all.map(item)),
      );
      return "Drives";
    },
  };
}
