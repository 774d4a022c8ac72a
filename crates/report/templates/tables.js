// Tables in the order of a column, relative to a row, with a cue where they are cut; and what paper
// shows.
(() => {
  function sortable(table) {
    const heads = all("thead th", table).filter((head) => !head.classList.contains("meaning"));
    for (const head of heads) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => sort(table, head));
    }
  }

  function sort(table, head) {
    const column = head.cellIndex;
    const first = "high" in head.dataset ? "descending" : "ascending";
    const order = head.getAttribute("aria-sort") === first ? { ascending: "descending", descending: "ascending" }[first] : first;
    all("th[aria-sort]", table).forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", order);
    const sign = order === "ascending" ? 1 : -1;
    const compare = (a, b) => {
      const [one, two] = [a.cells[column], b.cells[column]];
      if (column === 0) return sign * one.textContent.localeCompare(two.textContent);
      // What has no number comes last in any order.
      const [m, n] = [one, two].map((cell) => "n" in cell.dataset ? Number(cell.dataset.n) : null);
      return m === null ? (n === null ? 0 : 1) : n === null ? -1 : sign * (m - n);
    };
    table.tBodies[0].append(...[...table.tBodies[0].rows].sort(compare));
  }

  function relative(table) {
    const rows = [...table.tBodies[0].rows];
    if (rows.length < 2) return;
    const label = document.createElement("label");
    label.append("Values ");
    const select = label.appendChild(document.createElement("select"));
    select.append(new Option("as they are", ""), ...rows.map((row, index) => new Option(`relative to ${row.cells[0].firstChild.textContent.trim()}`, index)));
    const texts = rows.map((row) => all("td > span:first-child", row).map((span) => span.textContent));
    select.addEventListener("change", () => rows.forEach((row, r) => all("td > span:first-child", row).forEach((span, c) => {
      const own = span.parentElement.dataset.n, base = rows[Number(select.value)].cells[c + 1].dataset.n;
      const hasFactor = select.value !== "" && own !== undefined && Number(base) > 0;
      const doubt = hasFactor && (texts[r][c] + texts[Number(select.value)][c]).includes(" ?") ? " ?" : "";
      span.textContent = hasFactor ? `× ${number(Number(own) / Number(base))}${doubt}` : texts[r][c];
    })));
    table.closest(".scroll").previousElementSibling.append(label);
  }

  all("table.sortable").forEach(sortable);
  all("table.ranking").forEach(relative);

  const boxes = all(".scroll");
  const cue = (box) => box.classList.toggle("cut", box.scrollLeft + box.clientWidth < box.scrollWidth - 2);
  const sizes = new ResizeObserver((entries) => entries.forEach(({ target }) => cue(target)));
  for (const box of boxes) {
    sizes.observe(box);
    box.addEventListener("scroll", () => cue(box), { passive: true });
  }

  // Paper shows what was run.
  addEventListener("beforeprint", () => all("details:not(.more)").forEach((details) => { details.dataset.was = details.open; details.open = true; }));
  addEventListener("afterprint", () => all("details[data-was]").forEach((details) => { details.open = details.dataset.was === "true"; delete details.dataset.was; }));
})();
