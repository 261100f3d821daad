// What a report says besides the rule: warnings, the words above sections, rivals, the data card, the history, the command.
(function (Fernn) {
  "use strict";

  const el = Fernn.el;
  const report = (Fernn.report = Fernn.report || {});
  const number = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ",");

  report.warnings = function (facts) {
    const { ended, weighed } = facts.run;
    return [
      facts.refusal,
      facts.suggestions,
      ended === null && "This run has not ended, or was killed: the page shows what it had found by then.",
      ended === "interrupted" && "This run was interrupted: the page shows the best it had found by then.",
      facts.problems.some((each) => each.severity === "warning") && `There ${facts.problems.length === 1 ? "is 1 warning" : `are ${facts.problems.length} warnings`} about the data, below.`,
      weighed && "Traces were weighed in learning, so the errors in training and validation are weighed too; all else on this page counts traces.",
      facts.card.floor > 0 && `Equal traces have different labels: no rule errs on less than ${Fernn.percent(facts.card.floor)} of all traces.`,
    ].filter(Boolean);
  };

  report.frontLead = (facts) => {
    const rows = facts.front, isKnown = rows.some((row) => row.validation !== null);
    return (rows.length > 1 ? "The best rule of each length; choose one to see it on the traces. " : "") +
      (facts.run.method === "fernn" && facts.run.settings.signals === "auto" ? "Picked is the rule that describes the labels shortest, with those that it gets wrong." : isKnown ? "Picked is the simplest within one standard error of the best validation." : "Picked is the one that errs least in training, as no validation was made.");
  };

  report.tracesLead = (facts) => {
    const { all, shown } = facts.cases, drawn = facts.traces.drawn.length;
    const some = drawn < all ? `${number(drawn)} of ${number(all)} traces are drawn${shown < all ? `, ${number(shown)} can be asked about` : ""}; all that is counted above and below is counted over all of them. ` : "";
    return some + "Drag across or turn the wheel to zoom, point at a trace to see what the rule says of it, click it to take it apart below. Dots are the samples that decide.";
  };

  report.sensitivityLead = (facts) => facts.measure === "share"
    ? "The error as one threshold moves and the others stay. Any threshold in the shaded range gives the same verdicts."
    : "The error as one threshold moves and the others stay.";

  // A rule of another behaviour can be chosen where its verdicts are on this page; what z3 and a longer search would add is told.
  report.rivals = function (host, facts, state, { rate, chooseRule, chooseTrace }) {
    const place = (formula) => facts.rules.findIndex((rule) => rule.formula === formula);
    const more = `To see more of them: fernn rivals RUN --tolerance 0.02 --prove ${facts.rivals.senses ? facts.rivals.senses.length : 8}, with RUN the folder of this run.` +
      (facts.rivals.complete ? "" : " fernn learn FILE --method enumerative --exhaust goes through all rules of its space.");
    Fernn.rivals(host, facts.rivals, {
      rate, chosen: facts.rules[state.rule].formula, clock: facts.traces.clock,
      canFormula: (formula) => place(formula) >= 0, onFormula: (formula) => toRule(chooseRule, place(formula)),
      canCase: (index) => index !== null, onCase: (index) => (chooseTrace(index), document.getElementById("traces").scrollIntoView()),
    });
    host.append(el("p.f-note", null, more));
  };

  function toRule(choose, index) {
    choose(index);
    document.getElementById("rule").scrollIntoView();
  }

  report.data = function (facts) {
    const card = facts.card;
    const span = card.shortest === card.longest ? `${number(card.longest)} samples` : `${number(card.shortest)} to ${number(card.longest)} samples`;
    const step = card.dt === null ? "" : `, one every ${Fernn.plain(card.dt)} ${card.time_unit || "time units"}`;
    const classes = card.classes.map((each, k) => `${each.name} ${number(each.count)}${k === card.classes.length - 1 && !facts.classes ? " (good)" : ""}`).join(", ");
    const list = [
      ["traces", card.distinct === card.cases ? `${number(card.cases)}, no duplicates` : `${number(card.cases)}, ${number(card.distinct)} of them distinct`],
      ["each", span + step],
      card.label_range ? ["labels", `real numbers, ${Fernn.short(card.label_range[0])} to ${Fernn.short(card.label_range[1])}`] : ["classes", classes],
      card.contradictions ? ["contradictions", `${number(card.contradictions)} traces are in several classes; no rule errs less than ${Fernn.percent(card.floor)}`] : null,
      card.groups === null ? null : ["groups", number(card.groups)],
      ["split", facts.cases.tested ? `${number(facts.cases.learned)} to learn on, ${number(facts.cases.tested)} for the test` : "all to learn on, none for the test"],
      ["fingerprint", card.fingerprint.slice(0, 16)],
    ].filter(Boolean);
    const rows = card.channels.map((each) => [each.name, Fernn.short(each.min, 5), Fernn.short(each.median, 5), Fernn.short(each.max, 5)]);
    const more = card.n_channels > rows.length && el("p.f-note", null, `and ${card.n_channels - rows.length} more channels`);
    return [pairs(list), problems(facts.problems), table(["channel", "least", "median", "greatest"], rows), more].filter(Boolean);
  };

  function problems(list) {
    if (!list.length) return el("p.f-note", null, "No warnings came up in reading them.");
    return el("ul.r-problems", null, list.map((each) => el("li", null, `${each.where ? each.where + ": " : ""}${each.what}. `, el("small", null, each.fix))));
  }

  report.historyLead = (facts) => {
    const { method, line, seconds, ended } = facts.run;
    const why = { "time limit": "; stopped at its time limit", interrupted: "; interrupted", done: "" }[ended] ?? "; not finished";
    return `${method}: ${line}. ${Fernn.short(seconds, 3)} seconds${why}.`;
  };

  report.history = function (facts, rate) {
    const host = el("div"), rows = facts.history.filter((row) => typeof row.train === "number");
    const notes = facts.run.notes.map((text) => el("p.f-note", null, text));
    if (rows.length < 2) return [...notes, el("p.f-note", null, rows.length ? "One formula was found, at once." : "No history was kept.")];
    const end = Math.max(facts.run.seconds, ...rows.map((row) => row.seconds)) || 1;
    Fernn.chart(host, "training error of the formulas that joined the front, over time", (width) => {
      const height = 170, left = 46, right = 12, bottom = 34, top = 8;
      const most = Math.max(...rows.map((row) => row.train)) * 1.06 || 0.01;
      const x = Fernn.scale(0, end, left, width - right), y = Fernn.scale(0, most, height - bottom, top);
      let best = Infinity, path = "";
      for (const row of rows) {
        if (row.train >= best) continue;
        path += path ? `H${x(row.seconds)}V${y(row.train)}` : `M${x(row.seconds)},${y(row.train)}`;
        best = row.train;
      }
      return [height,
        Fernn.ticks(0, most, 4).map((tick) => [Fernn.svg("line.grid", { x1: left, x2: width - right, y1: y(tick), y2: y(tick) }),
          Fernn.svg("text.end", { x: left - 6, y: y(tick) + 4 }, rate(tick))]),
        Fernn.ticks(0, end, width / 110).map((tick) => Fernn.svg("text.mid", { x: x(tick), y: height - bottom + 15 }, Fernn.plain(tick))),
        Fernn.svg("text.mid", { x: (left + width - right) / 2, y: height - 3 }, "seconds of learning"),
        Fernn.svg("path.line", { d: `${path}H${x(end)}` }),
        rows.map((row) => Fernn.svg("circle.dot.train", { cx: x(row.seconds), cy: y(row.train), r: 4 },
          Fernn.svg("title", null, `${row.formula}: ${rate(row.train)} at length ${row.length}`)))];
    });
    return [host, el("p.f-note", null, "Dots are formulas as they joined the front, by their error in training; the line is the best so far."), ...notes];
  };

  report.againLead = (facts) => facts.run.ended === "done"
    ? `The same data, the same seed: the same ${facts.classes ? "rules" : "front"}.`
    : "The run was cut off, so how far the same command comes depends on the machine.";

  report.again = function (facts) {
    const { command, versions, started, settings, seed } = facts.run;
    const told = Object.entries(settings).map(([name, value]) => `${name} = ${typeof value === "string" ? value : JSON.stringify(value)}`);
    return [
      el("div.r-command", null, el("code", null, command), report.copy(command, "command")),
      pairs([
        ["learned", started ? started.replace("T", " ").replace("+00:00", " UTC") : "at a time that was not kept"],
        ["settings", told.length ? told.join(", ") : "the defaults"],
        ["seed", String(seed)],
        ["versions", Object.entries(versions).filter(([, each]) => each).map(([name, each]) => `${name} ${each}`).join(", ")],
      ]),
    ];
  };

  const pairs = (list) => el("dl.r-facts", null, list.flatMap(([name, value]) => [el("dt", null, name), el("dd", null, value)]));

  const table = (names, rows) => el("div.f-scroll", null, el("table.f-table.r-table", null,
    el("thead", null, el("tr", null, names.map((name, k) => el(k ? "th" : "th.text", { scope: "col" }, name)))),
    el("tbody", null, rows.map((row) => el("tr", null, row.map((cell, k) => el(k ? "td" : "td.text", null, String(cell))))))));
})((window.Fernn = window.Fernn || {}));
