// Tables to take along: as Markdown for a post, as CSV for a spreadsheet.

// What Markdown would read as markup is escaped: names come from outside.
const inMarkdown = (cell) =>
  String(typeof cell === "number" ? written(cell) : (cell ?? ""))
    .replace(/[\\`*_[\]<>|#~]/g, "\\$&")
    .replace(/\s+/g, " ");
function markdown(heads, lines) {
  const line = (cells) => `| ${cells.map(inMarkdown).join(" | ")} |`;
  return (
    [line(heads), `|${heads.map((_, at) => (at ? "---:|" : "---|")).join("")}`, ...lines.map(line)].join(
      "\n",
    ) + "\n"
  );
}

// A text that a spreadsheet would take for a formula is kept from being one.
function inCsv(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
const csv = (heads, lines) =>
  [heads, ...lines].map((cells) => cells.map(inCsv).join(",")).join("\r\n") + "\r\n";

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without a secure connection there is only the old way.
    const area = document.body.appendChild(el("textarea", { class: "unseen" }));
    area.value = text;
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    if (!done) return tell("Your browser does not let this page copy.");
  }
  tell("Copied.");
}

function save(name, text) {
  const href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  const anchor = el("a", { href, download: name });
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(href), 10_000);
}

// Buttons that take a table along; `table` gives its name, heads and lines when asked.
function takeAlong(table) {
  const asMarkdown = async () => {
    const { heads, lines } = await table("markdown");
    copy(markdown(heads, lines));
  };
  const asCsv = async () => {
    const { name, heads, lines } = await table("csv");
    save(`${name}.csv`, csv(heads, lines));
  };
  return el(
    "div",
    { class: "take-along" },
    el("button", { type: "button", "data-key": "markdown", click: asMarkdown }, "Copy as Markdown"),
    el("button", { type: "button", "data-key": "csv", click: asCsv }, "Save as CSV"),
  );
}
