// What the rule says against what the labels say: one table for each part of the data.
(function (Fernn) {
  "use strict";

  // `score` is one count, or those of {train, test, all}; where the data are split, train and test are shown.
  Fernn.confusion = function (host, score, classes) {
    const root = Fernn.el("div.f-confusion");
    host.replaceChildren(root);
    if (!score) return;
    const [bad, good] = classes.length === 2 ? classes : ["bad", "good"];
    const parts = "all" in score ? (score.test && score.train ? ["train", "test"] : ["all"]).map((part) => [part, score[part]]) : [["", score]];
    for (const [part, counts] of parts) {
      if (counts) root.append(table(part === "all" ? "" : part, counts, bad, good));
    }
  };

  function table(part, counts, bad, good) {
    const total = counts.true_good + counts.false_good + counts.true_bad + counts.false_bad;
    const wrong = counts.false_good + counts.false_bad;
    const cell = (kind, n) => Fernn.el(n || kind === "right" ? `td.${kind}` : "td", null, String(n));
    const head = (text, scope) => Fernn.el("th", { scope, title: text }, text);
    return Fernn.el("table", null,
      Fernn.el("caption", null, `${part ? part + ": " : ""}${wrong} of ${total} wrong`),
      Fernn.el("thead", null, Fernn.el("tr", null, Fernn.el("th", { "aria-hidden": "true" }), head("rule holds", "col"), head("rule fails", "col"))),
      Fernn.el("tbody", null,
        Fernn.el("tr", null, head(good, "row"), cell("right", counts.true_good), cell("wrong", counts.false_bad)),
        Fernn.el("tr", null, head(bad, "row"), cell("wrong", counts.false_good), cell("right", counts.true_bad))));
  }
})((window.Fernn = window.Fernn || {}));
