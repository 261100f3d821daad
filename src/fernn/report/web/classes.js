// Rules for classes: a row a rule, in words; and who is taken for whom.
(function (Fernn) {
  "use strict";

  const el = (...all) => Fernn.el(...all); // which may come later
  const TITLES = {
    each: "One rule per class: a trace is of the class whose rule holds; where several hold, or none, the class whose rule holds with the largest margin.",
    list: "A list: the first rule that holds decides.",
    one: "What the recorded traces have in common, from short to tight.",
    ranked: "The class follows from the robustness of the rule.",
  };

  // options: rate, chosen (an index, or null), onChoose(index)
  Fernn.classes = function (host, told, { rate, chosen = null, onChoose }) {
    const isList = told.kind === "list", isTested = told.error.test !== null && told.error.test !== undefined;
    const isOfClasses = told.kind === "each" || isList;
    const errors = told.rules.some((rule) => rule.error.train !== null);
    const parts = ["train", ...(isTested ? ["test"] : [])];
    const count = (rule, part) => (isList ? (rule.decided[part] ? `${rule.decided[part][0]} of ${rule.decided[part][1]}` : "–") : rate(rule.error[part]));
    const head = [...(isList ? [""] : []), isOfClasses ? "class" : "", "rule", "length", ...(errors ? parts.map((part) => (isList ? `right, ${part}` : `error, ${part}`)) : [])];
    const row = (rule, k) => el(k === chosen ? "tr.chosen" : "tr", { onclick: () => onChoose(k) },
      isList && el("td.f-name", null, rule.word), el("td.f-name", null, el("b", null, rule.name)),
      el("td.text", null, el("button", { type: "button", "aria-pressed": String(k === chosen), onclick: (event) => (event.stopPropagation(), onChoose(k)) }, rule.formula),
        el("small", null, rule.sentence, rule.note ? ` (${rule.note})` : "")),
      el("td", null, String(rule.length)), errors && parts.map((part) => el("td", null, count(rule, part))));
    const last = told.otherwise === null ? "" : el("tr", null, isList && el("td.f-name", null, told.rules.length ? "else" : "always"),
      el("td.f-name", null, el("b", null, told.otherwise)), el("td.text", { colspan: head.length - (isList ? 2 : 1) }, isList ? "" : "none of these"));
    host.replaceChildren(el("p.f-note", null, TITLES[told.kind] || ""),
      el("div.f-scroll", null, el("table.f-table.f-rows.f-classes", null,
        el("thead", null, el("tr", null, head.map((name) => el(name === "rule" ? "th.text" : ["", "class"].includes(name) ? "th.f-name" : "th", { scope: "col" }, name)))),
        el("tbody", null, told.rules.map(row), last))));
  };

  // Rows are what traces are, columns what they are said to be.
  Fernn.matrix = function (host, told) {
    const { rows, columns } = told;
    const isRight = (i, j) => (rows.length === 1 ? columns[j] === "inside" : told.isOne ? (i === 1) === (j === 1) : rows[i] === columns[j]);
    const table = (name, counts) => {
      const all = counts.flat().reduce((a, b) => a + b, 0);
      const wrong = counts.flatMap((row, i) => row.filter((_, j) => !isRight(i, j))).reduce((a, b) => a + b, 0);
      const cell = (n, i, j) => el(isRight(i, j) ? "td.right" : n ? "td.wrong" : "td", null, String(n));
      return el("table", null, el("caption", null, `${name}: ${wrong} of ${all} wrong`),
        el("thead", null, el("tr", null, el("th", { "aria-hidden": "true" }), columns.map((text) => el("th", { scope: "col", title: text }, `as ${text}`)))),
        el("tbody", null, counts.map((row, i) => el("tr", null, el("th", { scope: "row", title: rows[i] }, rows[i]), row.map((n, j) => cell(n, i, j))))));
    };
    host.replaceChildren(el("div.f-confusion.f-scroll", null, ["train", "test"].filter((part) => told[part]).map((part) => table(part, told[part]))));
  };
})((window.Fernn = window.Fernn || {}));
