// A run: its front to walk along, what is to be said of it, and the list of earlier ones.
(function (Studio) {
  "use strict";

  // The run of the address; `takesPick` shows its picked formula.
  Studio.loadRun = async function (takesPick) {
    const run = await Studio.get(`/api/runs/${encodeURIComponent(Studio.state.run)}`);
    Studio.now.run = run;
    Studio.now.rules = run.rules;
    Studio.now.front = run.front;
    Studio.now.picked = run.picked;
    Studio.showFront();
    about(run);
    if (run.problem) Studio.trouble(new Error(run.problem));
    if (run.rules && run.rules.rules.length && (takesPick || !Studio.state.formula)) await Studio.chooseClass(run.rules.rules[run.rules.pick]);
    else if (run.front.length && run.picked !== null && (takesPick || !Studio.state.formula)) Studio.choose(run.front[run.picked].formula, "picked");
    else Studio.emit("read again");
    return run;
  };

  Studio.rate = (value) => (Studio.now.traces && !Studio.now.traces.good ? (value === null || value === undefined ? "–" : Fernn.short(value, 3)) : Fernn.percent(value));

  Studio.showFront = function () {
    const { front, picked } = Studio.now;
    document.getElementById("front-part").hidden = !Studio.state.run;
    if (Studio.now.rules) return showClasses(Studio.now.rules);
    document.getElementById("front-title").textContent = "Front";
    const chosen = front.findIndex((row) => row.formula === Studio.state.formula);
    Fernn.front(document.getElementById("front"), front, {
      picked, chosen, rate: Studio.rate,
      onChoose: (index) => Studio.choose(Studio.now.front[index].formula, "chosen"),
    });
  };

  // In the place of a front: a rule a class, and who is taken for whom.
  function showClasses(told) {
    const host = document.getElementById("front"), rules = Fernn.el("div"), matrix = Fernn.el("div");
    document.getElementById("front-title").textContent = "Rules";
    const chosen = told.rules.findIndex((rule) => rule.formula === Studio.state.formula && rule.name === Studio.state.class);
    Fernn.classes(rules, told, { rate: Fernn.percent, chosen: chosen < 0 ? null : chosen, onChoose: (index) => Studio.chooseClass(told.rules[index]).catch(Studio.trouble) });
    Fernn.matrix(matrix, { ...told.confusion, isOne: told.kind === "one" });
    host.replaceChildren(rules, matrix);
  }

  // The rule of a class, and the traces with the labels that it is to tell apart.
  Studio.chooseClass = async function (rule) {
    if (Studio.state.class !== rule.name) {
      Studio.set({ class: rule.name });
      if (Studio.now.data) await Studio.loadTraces();
    }
    Studio.choose(rule.formula, "chosen");
  };

  Studio.step = function (by) {
    const { front, rules } = Studio.now;
    if (rules && rules.rules.length) {
      const now = rules.rules.findIndex((rule) => rule.name === Studio.state.class);
      return void Studio.chooseClass(rules.rules[Math.max(0, Math.min(rules.rules.length - 1, now + by))]).catch(Studio.trouble);
    }
    if (!front.length) return;
    const at = front.findIndex((row) => row.formula === Studio.state.formula);
    const to = at < 0 ? Studio.now.picked ?? 0 : Math.max(0, Math.min(front.length - 1, at + by));
    Studio.choose(front[to].formula, "chosen");
  };

  function about(run) {
    const host = document.getElementById("run"), link = document.getElementById("open-report");
    link.hidden = !(run.front.length || run.rules) || Boolean(run.problem);
    link.href = `/api/runs/${encodeURIComponent(run.run)}/report`;
    const facts = [run.method, run.ended && `ended: ${run.ended}`, run.seconds && `${Fernn.short(run.seconds, 3)} s`].filter(Boolean).join(" · ");
    host.replaceChildren(
      Fernn.el("p.f-note", null, `${run.run} · ${facts}`),
      ...(run.doubts || []).map((doubt) => Fernn.el("p", null, doubt)),
      ...(run.notes || []).map((note) => Fernn.el("p.f-note", null, note)),
      run.command ? Fernn.el("details", null, Fernn.el("summary", null, "Command that learns it again"), Fernn.el("pre", null, run.command)) : "");
  }

  // Rows of earlier runs, at most so many; null where there are none.
  Studio.runList = async function (most) {
    const runs = await Studio.get("/api/runs");
    if (!runs.length) return null;
    const rows = runs.slice(0, most).map((run) => Fernn.el("li", null,
      Fernn.el("button", { type: "button", disabled: Boolean(run.problem), onclick: () => openRun(run.run) }, run.formula || run.problem || "no formula yet"),
      Fernn.el("span", null, [run.data, run.method, run.started && when(run.started), run.ended || "not ended", run.run].filter(Boolean).join(" · "))));
    return Fernn.el("ul.list.runs", null, rows);
  };

  const when = (text) => (isNaN(new Date(text)) ? String(text) : new Date(text).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" }));

  function openRun(name) {
    Studio.trouble(null);
    Studio.closeDialog();
    Studio.set({ file: null, read: null, run: name, class: null, formula: null, led: null, base: null, case: null, other: null }, true);
    Studio.emit("restore");
  }

  Studio.openRuns = async function () {
    try {
      Studio.dialog("Earlier runs", (await Studio.runList(200)) || Fernn.el("p", null, "There are none yet."));
    } catch (problem) {
      Studio.trouble(problem);
    }
  };

  addEventListener("DOMContentLoaded", () => document.getElementById("open-runs").addEventListener("click", Studio.openRuns));
})((window.Studio = window.Studio || {}));
