// Formulas as good as the picked one: asked for, grouped by what they say of the traces.
(function (Studio) {
  "use strict";

  let known = null; // {run, found}

  Studio.tab("rivals", "Rivals", (host) => {
    const { run } = Studio.state;
    if (!run) return host.replaceChildren(Fernn.el("p.f-note", null, "Rivals are formulas as good as the one that was learned. Learn first, or open a run."));
    if (known && known.run === run) return show(host, known.found);
    if (host.querySelector("button")) return;
    const isOn = Studio.now.job && ["running", "stopping"].includes(Studio.now.job.state);
    host.replaceChildren(Fernn.el("p", null, "Other formulas may explain the data as well. "),
      Fernn.el("button", { type: "button", disabled: isOn, onclick: () => ask(host, run) }, isOn ? "Learning is under way" : "Ask for rivals"));
  });

  async function ask(host, run) {
    host.replaceChildren(Fernn.el("p.f-note", { role: "status" }, "Looking for rivals …"));
    try {
      known = { run, found: await Studio.get(`/api/runs/${encodeURIComponent(run)}/rivals`) };
      show(host, known.found);
    } catch (problem) {
      Studio.failedIn(host)(problem);
    }
  }

  function show(host, { rivals, told }) {
    const groups = new Map();
    for (const rival of rivals) groups.set(rival.group, [...(groups.get(rival.group) || []), rival]);
    const row = (rival) => Fernn.el(rival.formula === Studio.state.formula ? "tr.chosen" : "tr", null,
      Fernn.el("td.text", null, Fernn.el("button.f-plain.f-mono", { type: "button", onclick: () => Studio.choose(rival.formula, "chosen") }, rival.formula)),
      Fernn.el("td", null, String(rival.length)), Fernn.el("td", null, Studio.rate(rival.error)),
      Fernn.el("td", null, Fernn.el("button.f-plain", { type: "button", "aria-label": `compare with ${rival.formula}`, onclick: () => {
        Studio.set({ other: rival.formula });
        Studio.showTab("compare");
      } }, "compare")));
    const head = Fernn.el("tr", null, Fernn.el("th.text", { scope: "col" }, "formula"), ["length", "error, train", ""].map((name) => Fernn.el("th", { scope: "col" }, name)));
    const bodies = [...groups.values()].map((group, k) => Fernn.el("tbody", null,
      groups.size > 1 ? Fernn.el("tr.group", null, Fernn.el("th", { colspan: 4, scope: "rowgroup" }, `${Fernn.counted(group.length, "formula")} with the same verdicts (${k + 1})`)) : "", group.map(row)));
    host.replaceChildren(Fernn.el("p", null, told),
      rivals.length ? Fernn.el("div.f-scroll.tall", null, Fernn.el("table.f-table.f-front", null, Fernn.el("thead", null, head), bodies)) : "");
  }
})((window.Studio = window.Studio || {}));
