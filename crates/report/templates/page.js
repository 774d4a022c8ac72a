// Draws the pictures of the runs that are chosen, on axes that are the same for all of them.
"use strict";
(() => {
  const runs = JSON.parse(document.getElementById("pictures").textContent);
  const buttons = [...document.querySelectorAll(".switch button")];
  const config = { displayModeBar: false, responsive: true };
  let chosen = runs.map((_, index) => index);

  function themed(layout) {
    const style = getComputedStyle(document.body);
    const colour = (name) => style.getPropertyValue(name).trim();
    const axis = (own) => ({ ...own, gridcolor: colour("--line"), linecolor: colour("--line"), tickcolor: colour("--line"), fixedrange: window.innerWidth < 600 });
    return {
      ...layout,
      xaxis: axis(layout.xaxis),
      yaxis: axis(layout.yaxis),
      font: { family: style.fontFamily, size: 13, color: colour("--ink") },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      autosize: true,
    };
  }

  function figure(run) {
    const element = document.createElement("figure");
    if (runs.length > 1) {
      const caption = document.createElement("figcaption");
      caption.textContent = run.label;
      if (run.simulated) {
        const mark = document.createElement("span");
        mark.className = "mark";
        mark.textContent = "simulated";
        caption.append(" ", mark);
      }
      element.append(caption);
    }
    const plot = document.createElement("div");
    element.append(plot);
    return [element, plot];
  }

  function draw() {
    for (const view of document.querySelectorAll(".plots")) {
      view.querySelectorAll(".js-plotly-plot").forEach((plot) => Plotly.purge(plot));
      view.replaceChildren();
      const waiting = [];
      for (const index of chosen) {
        const picture = runs[index].pictures.find((one) => "view-" + one.view === view.id);
        if (!picture) continue;
        const [element, plot] = figure(runs[index]);
        view.append(element);
        plot.setAttribute("aria-label", runs[index].label);
        waiting.push([plot, picture]);
      }
      // Only now, with all of them in place, is each one as wide as it will be.
      for (const [plot, picture] of waiting) {
        Plotly.newPlot(plot, picture.data, themed(structuredClone(picture.layout)), config);
      }
    }
  }

  function choose(which) {
    chosen = which === "all" ? runs.map((_, index) => index) : [Number(which)];
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.run === which));
    for (const part of document.querySelectorAll("main [data-run]:not(button)")) {
      part.hidden = !chosen.includes(Number(part.dataset.run));
    }
    draw();
  }

  for (const button of buttons) button.addEventListener("click", () => choose(button.dataset.run));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  draw();
})();
