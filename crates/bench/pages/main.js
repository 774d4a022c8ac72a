// Shows the page that the address names, and again whenever it names another.

const PAGES = { ranking, compare, drives, drive, scatter, table };
const made = {};
let shownPage = null,
  turn = 0;

// What is not there says so, and where to go on.
function unknown(what, id) {
  return () => {
    shownPage = null;
    replace(
      document.querySelector("#start"),
      el("h1", { tabindex: -1 }, `No such ${what}`),
      el(
        "p",
        { class: "nothing" },
        id
          ? `There is no ${what} “${id}” here. It may have been removed, or the link is from another Bench.`
          : `There is no ${what} here yet. Run a test, or add runs: writecliff bench add RUN.`,
      ),
      el("p", {}, link("#ranking", "Go to the ranking"), " · ", link("#drives", "See all drives")),
    );
    return `No such ${what}`;
  };
}

async function render(isArrival = false) {
  const mine = ++turn;
  const { page, id, chosen } = address();
  const main = document.querySelector("#start");
  main.setAttribute("aria-busy", "true");
  let show;
  if (!(page in PAGES)) show = unknown("page", page);
  else {
    made[page] ??= PAGES[page]();
    try {
      show = await made[page].update(chosen, id);
    } catch (error) {
      show = failed(error);
    }
  }
  if (mine !== turn) return;
  if (page in PAGES && shownPage !== page) {
    main.replaceChildren(made[page].element);
    shownPage = page;
  }
  document.title = `${show()} – Writecliff Bench`;
  main.setAttribute("aria-busy", "false");
  for (const anchor of all("nav.pages a")) {
    const own = anchor.dataset.page;
    anchor.href = to(own, along(chosen));
    if (own === page || (own === "drives" && page === "drive")) anchor.setAttribute("aria-current", "page");
    else anchor.removeAttribute("aria-current");
  }
  const missing = document.querySelector("#missing");
  missing.hidden = !bench.problems.length;
  missing.replaceChildren(
    `${many(bench.problems.length, "place")} of the library cannot be shown: `,
    link("#table", "see below the table"),
    ".",
  );
  if (isArrival) {
    scrollTo(0, 0);
    main.querySelector("h1")?.focus({ preventScroll: true });
  }
}

const failed = (error) => () => {
  shownPage = null;
  replace(
    document.querySelector("#start"),
    el("h1", { tabindex: -1 }, "This cannot be shown"),
    el("p", { class: "warning" }, error.message),
  );
  return "This cannot be shown";
};

let place = "";
function arrive() {
  const { page, id } = address();
  const next = `${page}/${id}`;
  const isArrival = place !== "" && next !== place;
  place = next;
  render(isArrival);
}
addEventListener("hashchange", arrive);

// While Bench is being served, what is new is shown without loading the page again.
function watch(index) {
  let now = index;
  setInterval(async () => {
    if (document.hidden) return;
    const answer = await fetch("live.json", { cache: "no-store" }).catch(() => null);
    const next = answer?.ok ? (await answer.json()).index : now;
    if (next === now) return;
    now = next;
    await open(next);
    await render();
    tell("There are new results.");
  }, 2000);
}

(async () => {
  const { index, live } = document.documentElement.dataset;
  try {
    await open(index);
  } catch (error) {
    failed(error)();
    return;
  }
  arrive();
  if (live !== undefined) watch(index);
})();
