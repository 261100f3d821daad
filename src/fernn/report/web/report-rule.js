// The rule of a report: in signs, in words, as text and LaTeX; its error beside those of others; the traces that tell most.
(function (Fernn) {
  "use strict";

  const el = Fernn.el;
  const report = (Fernn.report = Fernn.report || {});

  report.rule = function (facts, index, rate, back) {
    const rule = facts.rules[index], isPicked = index === facts.picked;
    const title = isPicked ? "The rule" : index < facts.front.length ? `Another rule of the front, of length ${rule.length}` : "A rival of the rule";
    const left = el("div", null,
      el("h2", null, title),
      el("p.r-math", { "aria-label": rule.formula }, rule.symbols.map(([kind, text]) => el(`span.${kind}`, null, text))),
      el("p.r-says", null, rule.sentence),
      el("dl.r-source", null, source("text", rule.formula), source("LaTeX", rule.latex)),
      !isPicked && el("p", null, el("button.r-copy", { type: "button", onclick: back }, "back to the picked rule")));
    return [el("div.r-split", null, left, figure(facts, rule, rate))];
  };

  const source = (report.source = (name, text) => [el("dt", null, name), el("dd", null, el("code", null, text)), report.copy(text, name)]);

  report.copy = function (text, name) {
    const button = el("button.r-copy", { type: "button", "aria-label": `copy ${name}` }, "copy");
    button.addEventListener("click", () => {
      const told = (word) => ((button.textContent = word), setTimeout(() => (button.textContent = "copy"), 1200));
      const byHand = () => {
        const area = el("textarea.f-hidden", null, text);
        document.body.append(area);
        area.select();
        told(document.execCommand("copy") ? "copied" : "not allowed");
        area.remove();
      };
      if (navigator.clipboard) navigator.clipboard.writeText(text).then(() => told("copied"), byHand);
      else byHand();
    });
    return button;
  };

  // The one number first, then what it stands beside.
  function figure(facts, rule, rate) {
    const { tested, learned } = facts.cases;
    const isShare = facts.measure === "share";
    const error = tested ? rule.error.test : rule.error.train;
    const counts = rule.score && (tested ? rule.score.test : rule.score.train);
    const what = isShare ? `judged wrongly: ${counts.false_good + counts.false_bad} of` : "mean absolute error on";
    const on = tested ? `the ${Fernn.counted(tested, "trace")} kept for the test` : `the ${Fernn.counted(learned, "trace")} it was learned on`;
    const chart = el("div");
    const node = el("div.r-figure", null,
      el("div.big", null, rate(error)), el("p", null, `${what} ${on}`),
      tested ? chart : el("p", null, "No traces were kept for the test, so how it does on new ones is not known; this number flatters."),
      tested ? el("p.f-note", null, said(facts, rule, rate)) : null);
    if (tested) bars(chart, facts, rule, rate);
    return node;
  }

  function said(facts, rule, rate) {
    const level = Math.round(100 * facts.level);
    const how = facts.measure === "share"
      ? "exact binomial (Clopper–Pearson)" : "from the standard error of the mean";
    const together = facts.blocks < facts.cases.tested ? `, with ${Fernn.counted(facts.blocks, "block")} of copies and groups that come together` : ", taking the traces to be independent";
    const between = rule.interval ? `Between ${rate(rule.interval[0])} and ${rate(rule.interval[1])} with ${level}% confidence: ${how}${together}. ` : "";
    return `${between}In training, on ${Fernn.counted(facts.cases.learned, "trace")}: ${rate(rule.error.train)}.`;
  }

  function bars(host, facts, rule, rate) {
    const rows = [{ name: "this rule", error: rule.error.test, interval: rule.interval, own: true }, ...facts.baselines];
    Fernn.chart(host, "test error of the rule and of baselines, with intervals", (width) => {
      const known = rows.filter((row) => row.error !== null);
      const most = Math.max(...known.map((row) => (row.interval ? row.interval[1] : row.error)), 1e-9) * 1.04;
      const left = 74, step = 30, x = Fernn.scale(0, most, left, width - 14), bottom = rows.length * step;
      const ticks = Fernn.ticks(0, most, Math.max(2, width / 110));
      const parts = ticks.map((tick) => [
        Fernn.svg("line.grid", { x1: x(tick), x2: x(tick), y1: 0, y2: bottom }),
        Fernn.svg("text.mid", { x: x(tick), y: bottom + 14 }, rate(tick)),
      ]);
      rows.forEach((row, k) => {
        const y = k * step + step / 2;
        const title = Fernn.svg("title", null, `${row.name}: ${row.what || ""} ${row.error === null ? row.why : rate(row.error)}`);
        parts.push(Fernn.svg("text.end", { x: left - 12, y: y + 4, "font-weight": row.own ? 650 : 400 }, row.name));
        if (row.error === null) return parts.push(Fernn.svg("text", { x: left, y: y + 4 }, row.why));
        if (row.interval) parts.push(Fernn.svg(row.own ? "line.now" : "line.bar", { x1: x(row.interval[0]), x2: x(row.interval[1]), y1: y, y2: y }));
        parts.push(Fernn.svg(row.own ? "circle.dot.own" : "circle.dot.train", { cx: x(row.error), cy: y, r: row.own ? 6 : 5 }, title));
      });
      return [bottom + 20, parts];
    });
  }

  // The trace to begin with: one that the rule gets wrong, if any.
  report.most = (facts, index) => {
    const known = facts.lanes[index].map((each) => each.index);
    return known.find((k) => Fernn.isWrong(facts.traces, facts.rules[index], k)) ?? known[0] ?? null;
  };

  report.chips = function (host, facts, state, choose) {
    const rule = facts.rules[state.rule];
    const known = facts.lanes[state.rule].map((each) => each.index);
    const list = state.trace === null || known.includes(state.trace) ? known : [state.trace, ...known];
    const wrong = list.filter((k) => Fernn.isWrong(facts.traces, rule, k)), others = list.filter((k) => !wrong.includes(k));
    const focused = host.contains(document.activeElement);
    const chip = (k) => el(Fernn.isWrong(facts.traces, rule, k) ? "button.wrong" : "button", {
      type: "button", "aria-pressed": String(k === state.trace), title: facts.traces.cases[k], onclick: () => choose(k),
    }, facts.traces.cases[k]);
    const disputes = new Set(facts.rivals ? facts.rivals.disputed.map((each) => each.index) : []);
    const named = facts.traces.good ? [["Judged wrongly", wrong], ["Disputed by rivals", others.filter((k) => disputes.has(k))], ["Closest calls", others.filter((k) => !disputes.has(k))]] : [[facts.classes ? "Traces" : "Missed by most", list]];
    host.replaceChildren(...named.filter(([, cases]) => cases.length).flatMap(([name, cases]) =>
      [el("h3", null, name), el("div.r-chips", null, cases.map(chip))]));
    if (focused) host.querySelector("[aria-pressed='true']")?.focus({ preventScroll: true });
  };

  report.lane = function (host, facts, state) {
    if (state.trace === null) return host.replaceChildren();
    const known = facts.lanes[state.rule].find((each) => each.index === state.trace);
    const box = el("div.r-lanes");
    host.replaceChildren(el("h3", null, "Every part of the rule over time"), box);
    if (known) return Fernn.lanes(box, known, { clock: facts.traces.clock });
    box.append(el("p.f-note", null, el("b", null, facts.traces.cases[state.trace]),
      ": parts over time are kept on this page for the traces named above only. fernn explain shows any of them."));
  };
})((window.Fernn = window.Fernn || {}));
