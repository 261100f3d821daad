// Formulas as good as the picked one: asked for, and shown as in a report.
(function (Studio) {
  "use strict";

  const NEAR = [["", "as well as the best"], ["0.01", "within 1% of it"], ["0.02", "within 2%"], ["0.05", "within 5%"]];
  let known = null, near = ""; // {run, near, found}

  Studio.tab("rivals", "Rivals", (host) => {
    const { run } = Studio.state;
    if (!run) return host.replaceChildren(Fernn.el("p.f-note", null, "Rivals are formulas as good as the one that was learned. Learn first, or open a run."));
    if (known && known.run === run) return show(host, known.found);
    if (host.querySelector("button")) return;
    const isOn = Studio.now.job && ["running", "stopping"].includes(Studio.now.job.state);
    host.replaceChildren(Fernn.el("p", null, "Other formulas may explain the data as well. "), bar(host, run, isOn));
  });

  // How near, and the button.
  function bar(host, run, isOn) {
    const menu = Fernn.el("select", { "aria-label": "how well rivals explain the data", onchange: () => (near = menu.value) }, NEAR.map(([value, text]) => Fernn.el("option", { value }, text)));
    menu.value = near;
    return Fernn.el("div.bar", null, menu, Fernn.el("button", { type: "button", disabled: isOn, onclick: () => ask(host, run) }, isOn ? "Learning is under way" : "Ask for rivals"));
  }

  async function ask(host, run) {
    host.replaceChildren(Fernn.el("p.f-note", { role: "status" }, "Looking for rivals, and which of them mean the same …"));
    try {
      const found = await Studio.get(`/api/runs/${encodeURIComponent(run)}/rivals${near ? `?tolerance=${near}` : ""}`);
      known = { run, near, found };
      Studio.say(found.told);
      if (host.isConnected) show(host, found);
    } catch (problem) {
      Studio.failedIn(host)(problem);
    }
  }

  function show(host, found) {
    Fernn.rivals(host, found, {
      rate: Studio.rate, chosen: Studio.state.formula, clock: Studio.now.traces && Studio.now.traces.clock, actions: bar(host, Studio.state.run, false),
      onFormula: (formula) => Studio.choose(formula, "chosen"),
      onCompare: (formula) => (Studio.set({ other: formula }), Studio.showTab("compare")),
      onCase: (index) => (Studio.chooseCase(index), Studio.showTab("trace")),
    });
  }
})((window.Studio = window.Studio || {}));
