// Rules that are as good as each other: in groups of one behaviour, what they agree on, what they dispute, what would decide.
(function (Fernn) {
  "use strict";

  const el = (...all) => Fernn.el(...all); // which may come later

  // options: rate, chosen (a formula), onFormula(text), onCompare(text), onCase(index), canCase(index), clock, actions (what stands below the words)
  Fernn.rivals = function (host, found, options) {
    const parts = [el("p", null, words(found)), options.actions || ""];
    if (found.count > 1) {
      parts.push(groups(found, options));
      parts.push(shares("What they agree on", "Share of the formulas that compare this", found.atoms, 6), shares("How they are built", "Share of the formulas of this shape", found.structures, 4));
    }
    if (found.disputed.length) parts.push(disputed(found, options));
    if (found.decisive) parts.push(decisive(found.decisive, options));
    host.replaceChildren(...parts.flat().filter(Boolean));
  };

  function words(found) {
    if (found.count <= 1) return found.complete ? "No other rule of the space searched explains the training traces as well." : "None that was met explains the training traces as well.";
    const ways = found.behaviours === 1 ? "all of them judge every trace of this data alike" : `on the traces of this data they behave in ${found.behaviours} different ways`;
    const meant = found.senses ? `; they have ${found.senses.told}` : "; which of them mean the same was not asked";
    const all = found.complete ? "There are no others in the space that was searched." : "There may be more: these are those that the search met.";
    const errors = found.groups.map((group) => group.error.train), apart = Math.max(...errors) - Math.min(...errors);
    const well = apart ? `err in training by at most ${Fernn.percentagePoints(apart)} more than the best` : "explain the training traces as well as the picked one";
    return `${Fernn.counted(found.count, "rule")} ${well}; ${ways}${meant}. ${all}`;
  }

  // A row a formula; those of one behaviour stand together, and of these those of one meaning.
  function groups(found, options) {
    const rate = options.rate, hasSenses = Boolean(found.senses);
    const head = ["rule", "length", hasSenses && "meaning", options.onCompare && ""].filter((name) => name !== false && name !== undefined);
    const bodies = found.groups.map((group, k) => {
      const meant = group.meanings === null ? "" : `, ${Fernn.counted(group.meanings, "meaning")}`;
      const more = group.count > group.formulas.length ? `, ${group.formulas.length} shown` : "";
      const title = `behaviour ${k + 1}: ${Fernn.counted(group.count, "rule")}${meant}${more}; error ${rate(group.error.train)} in training, ${rate(group.error.all)} on all`;
      const row = (rule) => el(rule.formula === options.chosen ? "tr.chosen" : "tr", null,
        el("td.text", null, options.onFormula && (!options.canFormula || options.canFormula(rule.formula))
          ? el("button.f-plain.f-mono", { type: "button", onclick: () => options.onFormula(rule.formula) }, rule.formula) : el("span.f-mono", null, rule.formula)),
        el("td", null, String(rule.length)),
        hasSenses && el("td", null, rule.sense === null ? "–" : String.fromCharCode(97 + (rule.sense % 26))),
        options.onCompare && el("td", null, el("button.f-plain", { type: "button", "aria-label": `compare with ${rule.formula}`, onclick: () => options.onCompare(rule.formula) }, "compare")));
      return el("tbody", null, el("tr.f-group", null, el("th", { colspan: head.length, scope: "rowgroup" }, title)), group.formulas.map(row));
    });
    const notes = [
      found.behaviours > found.groups.length && `The first ${found.groups.length} behaviours are shown.`,
      hasSenses && "Rules with the same letter within a behaviour mean the same.",
    ].filter(Boolean).join(" ");
    return [el("div.f-scroll.tall", null, el("table.f-table.f-rows", null,
      el("thead", null, el("tr", null, head.map((name, k) => el(k ? "th" : "th.text", { scope: "col" }, name)))), bodies)), notes && el("p.f-note", null, notes)];
  }

  function shares(title, about, list, most) {
    if (!list.length) return [];
    const row = (each) => el("tr", null, el("td.text", null, el("span.f-mono", null, each.what)),
      el("td", null, el("meter", { min: 0, max: 1, value: each.share, "aria-hidden": "true" })), el("td", null, `${Math.round(100 * each.share)}%`));
    return [el("h3", null, title), el("div.f-scroll", null, el("table.f-table.f-narrow", { "aria-label": about }, el("tbody", null, list.slice(0, most).map(row))))];
  }

  function disputed(found, options) {
    const { disputes, disputed: list, groups: shown } = found;
    const can = options.canCase || (() => true);
    const name = (each) => (can(each.index) ? el("button.f-plain", { type: "button", onclick: () => options.onCase(each.index) }, each.case) : each.case);
    const said = (each) => shown.map((_, k) => (each.says[k] === "1" ? String(k + 1) : null)).filter(Boolean).join(", ") || "none";
    const rows = list.map((each) => el("tr", null, el("td.text", null, name(each)), el("td", null, each.label), el("td", null, `${Math.round(100 * each.good)}%`), el("td", null, said(each))));
    const head = ["trace", "label", "behaviours that call it good", "which of them"];
    return [el("h3", null, "Where they disagree"),
      el("p.f-note", null, `${Fernn.counted(disputes, "recorded trace")}, those most in dispute first${list.length < disputes ? `; ${list.length} are shown` : ""}. Choose one to see it against the rule.`),
      el("div.f-scroll.tall", null, el("table.f-table", null,
        el("thead", null, el("tr", null, head.map((text, k) => el(k ? "th" : "th.text", { scope: "col" }, text)))), el("tbody", null, rows)))];
  }

  function decisive(question, { clock }) {
    const [bad, good] = question.classes;
    const place = el("div");
    Fernn.pair(place, question.lanes, question.formulas.map((formula, k) => `${k ? bad : good}, says ${formula}`), clock);
    return [el("h3", null, "What would decide"),
      el("p.f-note", null, `A trace that was not recorded: ${question.origin}, with ${Fernn.counted(question.changed, "sample")} changed. ${Fernn.counted(question.good, "behaviour")} would call it ${good}, ${question.bad} ${bad}. ` +
        "If you can say which class this trace is, that decides; fernn ask RUN asks such questions until one behaviour is left."), place];
  }

  // One trace under two rules, side by side.
  Fernn.pair = function (host, lanes, captions, clock = null) {
    const places = lanes.map(() => el("div"));
    host.replaceChildren(el("div.f-many", null, places.map((place, k) => el("figure", null, el("figcaption", null, captions[k]), place))));
    lanes.forEach((each, k) => Fernn.lanes(places[k], each, { clock }));
  };
})((window.Fernn = window.Fernn || {}));
