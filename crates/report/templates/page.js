// Draws the pictures of the drives and settings that are chosen.
"use strict";
(() => {
  const pictures = JSON.parse(document.getElementById("pictures").textContent);
  const plots = [...document.querySelectorAll(".plot")];
  const buttons = [...document.querySelectorAll("button[data-choose]")];
  const choosable = [...document.querySelectorAll("main [data-subject], main [data-setting]")];
  const chosen = { subject: "all", setting: "all" };
  const waiting = new Set();

  function themed(picture) {
    const style = getComputedStyle(document.body);
    const colour = (name) => style.getPropertyValue(name).trim();
    const axis = (own) => ({ ...own, gridcolor: colour("--line"), linecolor: colour("--line"), tickcolor: colour("--line"), fixedrange: window.innerWidth < 600 });
    const { data, layout } = structuredClone(picture);
    for (const trace of data) {
      // Each colour stands for ten times the value of the one before.
      if (trace.type === "heatmap") trace.colorscale = [0, 1e-4, 1e-3, 1e-2, 0.1, 1].map((share, step) => [share, colour(`--heat-${Math.max(step, 1)}`)]);
    }
    return [data, {
      ...layout,
      xaxis: axis(layout.xaxis),
      yaxis: axis(layout.yaxis),
      font: { family: style.fontFamily, size: 13, color: colour("--ink") },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      autosize: true,
    }];
  }

  function draw(plot) {
    waiting.delete(plot);
    const picture = pictures.find((one) => one.id === plot.dataset.picture);
    Plotly.react(plot, ...themed(picture), { displayModeBar: false, responsive: true });
  }

  // One picture at a time, so that the page can be read while the others are drawn.
  function drawNext() {
    const next = plots.find((plot) => waiting.has(plot) && plot.offsetParent);
    if (!next) return;
    draw(next);
    setTimeout(drawNext);
  }

  function drawAll() {
    plots.forEach((plot) => waiting.add(plot));
    drawNext();
  }

  function choose(kind, value) {
    chosen[kind] = value;
    for (const button of buttons) {
      if (button.dataset.choose === kind) button.setAttribute("aria-pressed", String(button.dataset.value === value));
    }
    const isShown = (kind, own) => own === undefined || chosen[kind] === "all" || chosen[kind] === own;
    for (const part of choosable) {
      part.hidden = !isShown("subject", part.dataset.subject) || !isShown("setting", part.dataset.setting);
    }
    for (const view of document.querySelectorAll(".view")) {
      const shown = view.querySelectorAll("figure:not([hidden])").length;
      view.classList.toggle("empty", shown === 0);
      view.style.setProperty("--columns", shown === 4 ? 2 : Math.min(shown, 3));
    }
    drawAll();
  }

  for (const button of buttons) button.addEventListener("click", () => choose(button.dataset.choose, button.dataset.value));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  // Paper has a width of its own, and shows what was not drawn yet.
  window.addEventListener("beforeprint", () => {
    for (const plot of plots.filter((plot) => plot.offsetParent)) draw(plot);
  });

  // Many drives are compared as they are sold; the reader adds the other settings.
  const figures = [...document.querySelectorAll("figure[data-setting]")];
  const drives = (chosen) => new Set(chosen.map((figure) => figure.dataset.subject)).size;
  const first = figures.filter((figure) => figure.dataset.setting === "0");
  const isEnough = drives(figures) > 1 && drives(first) === drives(figures);
  choose("setting", isEnough ? "0" : "all");
})();
