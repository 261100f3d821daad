// The rules of a report on classes: all of them, and the error of what they say together.
(function (Fernn) {
  "use strict";

  const el = Fernn.el;
  const report = (Fernn.report = Fernn.report || {});

  report.classes = function (facts, state, rate, choose) {
    const told = facts.classes, table = el("div"), rule = facts.rules[state.rule];
    const many = { each: "One rule per class", list: "The rules, in their order", one: "What they have in common", ranked: "The rule of the ranks" }[told.kind];
    Fernn.classes(table, told, { rate, chosen: rule ? state.rule : null, onChoose: choose });
    const left = el("div", null, el("h2", null, many), table,
      rule && el("p.r-math", { "aria-label": rule.formula }, rule.symbols.map(([kind, text]) => el(`span.${kind}`, null, text))),
      rule && el("p.r-says", null, rule.sentence),
      rule && el("dl.r-source", null, report.source("text", rule.formula), report.source("LaTeX", rule.latex)));
    return [el("div.r-split", null, left, figure(facts, rate))];
  };

  function figure(facts, rate) {
    const { tested, learned } = facts.cases, told = facts.classes, isOne = told.kind === "one";
    const error = tested ? told.error.test : told.error.train;
    const on = tested ? `the ${Fernn.counted(tested, "trace")} kept for the test` : `the ${Fernn.counted(learned, "trace")} it was learned on`;
    const notes = [
      ...(facts.detection || []),
      facts.interval && `Between ${rate(facts.interval[0])} and ${rate(facts.interval[1])} with ${Math.round(100 * facts.level)}% confidence.`,
      facts.guess !== null && `Always saying the most common class: ${rate(facts.guess)}.`,
      tested ? `In training, on ${Fernn.counted(learned, "trace")}: ${rate(told.error.train)}.` : "No traces were kept for the test, so how it does on new ones is not known; this number flatters.",
    ];
    return el("div.r-figure", null, el("div.big", null, rate(error)), el("p", null, `${isOne ? "on the wrong side" : "misclassified"}, of ${on}`), el("p.f-note", null, notes.filter(Boolean).join(" ")));
  }

  report.matrix = function (host, facts) {
    Fernn.matrix(host, { ...facts.classes.confusion, isOne: facts.classes.kind === "one" });
  };

  report.matrixLead = "Rows are the classes of the traces, columns what the rules say.";

  // The traces with the labels that the chosen rule is to tell apart.
  report.seen = (facts, state) => (facts.views && facts.views[state.rule] ? { ...facts, traces: { ...facts.traces, ...facts.views[state.rule] } } : facts);
})((window.Fernn = window.Fernn || {}));
