// The rule: typed, taken from the front, or changed by pulling a threshold; and at once what it says of the traces.
(function (Studio) {
  "use strict";

  const TYPING = 120; // milliseconds after the last letter
  let parts = null, view = null, settled = null, fromEnd = false;
  let typing = 0; // a letter was written, and is not read yet

  Studio.ruleForm = function () {
    const text = Fernn.el("textarea", { id: "formula", rows: 1, spellcheck: "false", autocapitalize: "off", autocomplete: "off",
      "aria-label": "formula", "aria-describedby": "formula-trouble", placeholder: "G (v <= 34.3)" });
    parts = {
      text, trouble: Fernn.el("pre", { id: "formula-trouble", role: "alert", hidden: true }), sentence: Fernn.el("p.sentence"),
      error: Fernn.el("div.errors", { "aria-live": "polite" }), confusion: Fernn.el("div"),
      undo: Fernn.el("button.f-plain", { type: "button", hidden: true, onclick: () => settled && Studio.choose(settled.formula, "chosen") }, "Undo the change"),
    };
    text.addEventListener("input", () => {
      grow();
      stale(true);
      clearTimeout(typing);
      typing = setTimeout(() => {
        typing = 0;
        Studio.emit("chosen");
        read({ formula: text.value, why: "typed" });
      }, TYPING);
    });
    text.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey) event.preventDefault();
      if (event.key === "Escape") text.blur();
    });
    document.getElementById("rule").replaceChildren(
      Fernn.el("div.editor", null, text, parts.trouble, parts.sentence, parts.undo), Fernn.el("div.score", null, parts.error, parts.confusion));
  };

  // What is shown is of an earlier text: grey until the text that stands there has been read.
  function stale(isOld) {
    for (const part of [parts.sentence, parts.error, parts.confusion]) part.toggleAttribute("data-old", isOld);
    for (const id of ["traces", "tab-panel"]) document.getElementById(id)?.toggleAttribute("data-old", isOld);
    document.getElementById("rule").setAttribute("aria-busy", String(isOld));
  }

  function grow() {
    parts.text.style.height = "auto";
    parts.text.style.height = `${parts.text.scrollHeight + 2}px`;
  }

  // Which run a formula is of, for its split, and whose rule it is, for its labels.
  Studio.whose = function () {
    const { run, class: name } = Studio.state;
    return run ? { run, ...(name ? { class: name } : {}) } : {};
  };

  // Traces that share their end where a rule looks back from it.
  Studio.loadTraces = async function (isFromEnd = false) {
    fromEnd = isFromEnd;
    const asked = { from_end: isFromEnd ? 1 : 0, ...(Studio.state.class ? Studio.whose() : {}) };
    const drawn = (more = {}) => Studio.get(`/api/data/${encodeURIComponent(Studio.now.data)}/traces?${new URLSearchParams({ ...asked, ...more })}`);
    Studio.now.traces = await drawn();
    view = Fernn.traces(document.getElementById("traces"), Studio.now.traces, {
      part: async (first, last) => {
        const { reading } = Studio.now;
        const [found, sheet] = await Promise.all([drawn({ first, last }),
          reading && reading.sheet ? Studio.ask("expressions", { formula: reading.formula, first, last }) : null]);
        return { ...found, sheet };
      },
      onCase: (index) => Studio.chooseCase(index),
      onDrag: (threshold, value, isOver) => {
        const from = Studio.now.reading;
        if (!from) return;
        Studio.emit("chosen");
        if (!last || !last.thresholds) settled = from; // what there was before
        const thresholds = from.thresholds.map((each, k) => (k === threshold ? value : each.value));
        read({ formula: from.formula, thresholds, why: isOver ? "pulled" : "pulling" });
      },
    });
    Studio.now.view = view;
    if (Studio.state.case !== null) view.focus(Number(Studio.state.case));
  };

  Studio.clearTraces = function () {
    view = null;
    settled = null;
    Studio.now.traces = Studio.now.reading = null;
    document.getElementById("traces").replaceChildren();
    if (parts) show(null);
  };

  // What the rule compares that is no channel, over the same traces; asked for again where it is something else.
  let sheet = { key: null, found: null };
  async function withSheet(reading) {
    if (!reading.expressions.length) return reading;
    const key = JSON.stringify([Studio.now.data, Studio.whose(), reading.direction, reading.expressions]);
    if (sheet.key !== key) sheet = { key, found: await Studio.ask("expressions", { formula: reading.formula }) };
    return { ...reading, sheet: sheet.found };
  }

  let last = null; // what was asked for last
  const read = (asked) => questions((last = asked));
  const questions = Studio.latest(
    (asked) => {
      if (!Studio.now.data) throw new Error("There are no data to read it on.");
      if (!asked.formula.trim()) throw new Error("Write a formula, such as G (v <= 34.3), or learn one.");
      const body = { formula: asked.formula };
      if (asked.thresholds) body.thresholds = asked.thresholds;
      Object.assign(body, Studio.whose());
      return Studio.post(`/api/data/${encodeURIComponent(Studio.now.data)}/read`, body).then(withSheet);
    },
    (reading, isLast, asked) => {
      if (!isLast && last.why !== "pulling") return; // the line lies where it was let go already
      if (!["pulling", "typed", "restored"].includes(asked.why)) settled = asked.why === "pulled" ? settled : reading;
      show(reading, asked);
      if (isLast && asked.why !== "pulling") kept(reading);
    },
    (problem, asked) => wrong(problem, asked),
  );

  // What a person chose, wrote or pulled is no longer replaced by what the run picks, also after a reload.
  Studio.on("chosen", () => Studio.set({ led: null }));

  // A formula from elsewhere: the front, rivals, another tab. `why` is "picked" where it is the one of the run and "led" where it
  // is that of the address: nobody asked for these.
  Studio.choose = function (formula, why) {
    if (why === "chosen") Studio.emit("chosen");
    else if (typing) return; // a person is writing
    if (why === "picked") Studio.set({ led: 1 });
    clearTimeout(typing);
    typing = 0;
    if (why !== "chosen" && Studio.state.formula === formula && Studio.now.reading) return Studio.showFront();
    const isSame = why !== "chosen" && Studio.state.formula === formula;
    Studio.set({ formula, base: isSame ? Studio.state.base : null });
    Studio.showFront();
    if (parts.text.value !== formula && !(why !== "chosen" && document.activeElement === parts.text)) parts.text.value = formula;
    grow();
    restored();
  };

  // The formula of the address; where it was changed, what there was before is read first.
  async function restored() {
    const { formula, base } = Studio.state, asked = last;
    if (!base || base === formula) return read({ formula, why: "chosen" });
    const before = await Studio.ask("read", { formula: base }).catch(() => null);
    if (last !== asked || Studio.state.formula !== formula) return; // a person was quicker
    settled = before;
    read({ formula, why: before ? "restored" : "chosen" });
  }

  Studio.on("read again", () => Studio.state.formula && restored());
  Studio.on("back", () => Studio.state.formula && Studio.now.data && read({ formula: parts.text.value, why: "typed" }));

  function show(reading, asked = {}) {
    Studio.now.reading = reading;
    stale(Boolean(typing)); // a letter may have been written since
    parts.trouble.hidden = true;
    parts.text.removeAttribute("aria-invalid");
    if (view) view.show(reading);
    if (!reading) {
      parts.text.value = "";
      parts.undo.hidden = true;
      parts.sentence.textContent = "";
      parts.error.replaceChildren();
      return parts.confusion.replaceChildren();
    }
    if (asked.why !== "typed" && !typing) parts.text.value = reading.formula;
    grow();
    parts.sentence.textContent = reading.sentence;
    parts.undo.hidden = !settled || settled.formula === reading.formula;
    errors(reading);
    Fernn.confusion(parts.confusion, reading.score && reading.score.all, Studio.now.traces ? Studio.now.traces.classes : []);
  }

  // The error now, of each part of the data, and how it has changed since the formula was chosen.
  function errors(reading) {
    if (!reading.error) return parts.error.replaceChildren();
    const names = reading.error.test === null || reading.error.test === undefined ? ["all"] : ["train", "test"];
    parts.error.replaceChildren(...names.map((name) => {
      const now = reading.error[name], before = settled && settled.error && settled.error[name];
      const isRate = !Studio.now.traces || Studio.now.traces.good;
      const change = before === null || before === undefined ? 0 : now - before;
      return Fernn.el("div.figure", null, Fernn.el("span", null, name === "all" ? "error" : `error, ${name}`), Fernn.el("b", null, Studio.rate(now)),
        Fernn.el(change > 0 ? "i.f-bad" : "i.f-good", null, change ? `${change > 0 ? "+" : "−"}${isRate ? Fernn.percentagePoints(Math.abs(change)) : Studio.rate(Math.abs(change))}` : ""));
    }));
  }

  function wrong(problem, asked) {
    stale(true);
    if (problem.isGone) return;
    parts.trouble.hidden = false;
    parts.text.setAttribute("aria-invalid", "true");
    const at = problem.at;
    if (at === null || at === undefined) return void (parts.trouble.textContent = problem.message);
    const from = Math.max(0, at - 30); // what is around the place, with a caret under it
    const around = asked.formula.slice(from, at + 30);
    parts.trouble.textContent = `${problem.message}\n${around}\n${" ".repeat(at - from)}^`;
  }

  // What follows from a reading that stays: the address, the axis, the other parts of the page.
  function kept(reading) {
    Studio.set({ formula: reading.formula, base: settled && settled.formula !== reading.formula ? settled.formula : null });
    Studio.showFront();
    Studio.emit("reading", reading);
    const { traces } = Studio.now;
    const isRagged = traces && typeof traces.lengths !== "number" && new Set(traces.lengths).size > 1;
    const wanted = Boolean(isRagged && reading.direction === "past");
    if (traces && wanted !== fromEnd) Studio.loadTraces(wanted).then(() => view.show(reading), Studio.trouble);
  }

  Studio.chooseCase = function (index) {
    Studio.set({ case: index });
    if (view) view.focus(index);
    Studio.emit("case", index);
  };

  // The next trace that the rule gets wrong.
  Studio.stepWrong = function (by) {
    const { traces, reading } = Studio.now;
    if (!traces || !reading) return;
    const wrongs = traces.cases.map((_, index) => index).filter((index) => Fernn.isWrong(traces, reading, index));
    if (!wrongs.length) return Studio.say("No trace is wrong.");
    const now = Studio.state.case === null ? -1 : Number(Studio.state.case);
    const next = by > 0 ? wrongs.find((index) => index > now) ?? wrongs[0] : wrongs.findLast((index) => index < now) ?? wrongs[wrongs.length - 1];
    Studio.chooseCase(next);
    Studio.showTab("trace");
  };
})((window.Studio = window.Studio || {}));
