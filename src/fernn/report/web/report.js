// The report: sections in order, one rule of the front chosen, one trace chosen. Everything shown follows these two.
(function (Fernn) {
  "use strict";

  const el = Fernn.el;
  const report = (Fernn.report = Fernn.report || {});

  document.addEventListener("DOMContentLoaded", start);

  function start() {
    const facts = JSON.parse(document.getElementById("facts").textContent);
    const page = document.getElementById("page"), nav = document.getElementById("nav");
    const rate = facts.measure === "share" ? Fernn.percent : (value) => (value === null ? "–" : Fernn.short(value));
    const state = { rule: facts.picked, trace: null };
    const follow = []; // what is drawn again when another rule is chosen
    const warnings = report.warnings(facts).map((text) => el("li", null, text));
    page.replaceChildren(...(warnings.length ? [el("ul.r-warn", { "aria-label": "warnings" }, warnings)] : []));

    function section(id, title, lead, name = title, host = page) {
      const body = el("div");
      const node = el("section", { id, "aria-label": title }, title && el("h2", null, title), lead && el("p.r-lead", null, lead), body);
      host.append(node);
      nav.append(el("a", { href: `#${id}` }, name));
      return body;
    }

    function chooseRule(index) {
      state.rule = index;
      follow.forEach((draw) => draw());
    }

    const rule = section("rule", "", null, "Rule");
    rule.parentNode.classList.add("r-rule");
    follow.push(() => rule.replaceChildren(...(facts.classes ? report.classes(facts, state, rate, chooseRule) : report.rule(facts, state.rule, rate, () => chooseRule(facts.picked)))));
    if (facts.classes) report.matrix(section("right", "Right and wrong", report.matrixLead, "Errors"), facts);
    else besideRule();

    const seen = section("traces", "On the traces", report.tracesLead(facts), "Traces");
    const pictures = el("div"), chips = el("div"), lane = el("div");
    seen.append(pictures, chips, lane);
    let view = null, now = facts; // with the labels that the chosen rule is to tell apart

    function chooseTrace(index) {
      state.trace = index;
      report.chips(chips, now, state, (chosen) => (view.focus(chosen), chooseTrace(chosen)));
      report.lane(lane, now, state);
    }
    follow.push(() => {
      now = report.seen(facts, state);
      if (!view || facts.views) view = Fernn.traces(pictures, now.traces, { onCase: (index) => chooseTrace(index) });
      const rule = facts.rules[state.rule];
      view.show(rule ? { ...rule, sheet: facts.expressions } : null);
      const isKnown = facts.lanes[state.rule].some((each) => each.index === state.trace);
      chooseTrace(isKnown ? state.trace : report.most(now, state.rule));
      view.focus(state.trace);
    });

    if (!facts.classes) {
      const moving = section("thresholds", "If a threshold moved", report.sensitivityLead(facts), "Thresholds");
      follow.push(() => {
        const list = facts.rules[state.rule].sensitivity;
        if (list) Fernn.sensitivity(moving, list, { rate });
        else moving.replaceChildren(el("p.f-note", null, "Not worked out for this rule; it is for the picked one."));
      });
    }
    if (facts.rivals) {
      const others = section("rivals", "Other rules", null, "Rivals");
      follow.push(() => report.rivals(others, facts, state, { rate, chooseRule, chooseTrace: (index) => (view.focus(index), chooseTrace(index)) }));
    }
    section("data", "The data", null, "Data").append(...report.data(facts));
    const learned = section("history", "How it was learned", report.historyLead(facts), "Learning");
    if (!facts.classes) learned.append(...report.history(facts, rate));
    section("again", "Reproduce", report.againLead(facts), "Reproduce").append(...report.again(facts));
    page.append(el("footer.r-foot", null, `Written by fernn ${facts.run.versions.fernn || ""}. Everything is in this one file; nothing is fetched and nothing is sent.`));
    theme();
    follow.forEach((draw) => draw());

    // The front, and right and wrong.
    function besideRule() {
      const hasVerdicts = Boolean(facts.rules[facts.picked].score);
      const beside = el(hasVerdicts ? "div.r-split" : "div");
      page.append(beside);
      const front = section("front", "From simple to accurate", report.frontLead(facts), "Front", beside);
      follow.push(() => Fernn.front(front, facts.front, { picked: facts.picked, chosen: state.rule < facts.front.length ? state.rule : -1, onChoose: chooseRule, rate }));
      if (!hasVerdicts) return;
      const tables = section("right", "Right and wrong", "Rows are the labels, columns what the rule says.", "Errors", beside);
      follow.push(() => Fernn.confusion(tables, facts.rules[state.rule].score, facts.traces.classes));
    }
    document.documentElement.dataset.ready = "yes";
  }

  function theme() {
    const button = document.getElementById("theme"), root = document.documentElement;
    const isDark = () => (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
    const say = () => (button.textContent = isDark() ? "light" : "dark");
    button.setAttribute("aria-label", "dark or light");
    button.addEventListener("click", () => ((root.dataset.theme = isDark() ? "light" : "dark"), say()));
    say();
  }
})((window.Fernn = window.Fernn || {}));
