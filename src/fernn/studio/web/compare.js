// Two formulas: on which traces they differ, who is right there, and where along a trace.
(function (Studio) {
  "use strict";

  const MOST = 300; // rows of the table

  const differ = Studio.latest(
    (host, a, b) => Studio.ask("differ", { a, b }),
    (found, isLast, host) => show(host, found),
    (problem, host) => Studio.failedIn(host)(problem),
  );

  Studio.tab("compare", "Compare", (host) => {
    const { front, reading } = Studio.now;
    let place = host.querySelector(".differ");
    if (!place) {
      const other = Fernn.el("input", { type: "text", list: "other-formulas", value: Studio.state.other || "", spellcheck: "false",
        "aria-label": "formula to compare with", placeholder: "a formula, or choose one of the front" });
      const names = Fernn.el("datalist", { id: "other-formulas" }, front.map((row) => Fernn.el("option", { value: row.formula })));
      place = Fernn.el("div.differ");
      const proof = Fernn.el("div.proof");
      const length = Fernn.el("input", { type: "number", min: 1, max: 60, value: 20, "aria-label": "samples of the longest traces to look at" });
      const go = () => (Studio.set({ other: other.value }), compare(place, Studio.now.reading.formula, other.value));
      other.addEventListener("input", () => (clearTimeout(other.timer), (other.timer = setTimeout(go, 200))));
      host.replaceChildren(
        Fernn.el("div.bar", null, Fernn.el("b.tag", null, "A"), Fernn.el("code.a", null, reading.formula)),
        Fernn.el("div.bar", null, Fernn.el("b.tag", null, "B"), other, names,
          Fernn.el("button", { type: "button", onclick: () => ((other.value = Studio.now.reading.formula), go()) }, "Keep this one as B"),
          Fernn.el("button", { type: "button", onclick: () => other.value && Studio.choose(other.value, "chosen") }, "Show B")),
        place,
        Fernn.el("div.bar", null, Fernn.el("button", { type: "button", onclick: () => other.value.trim() && prove(proof, Studio.now.reading.formula, other.value, Number(length.value)) }, "Same on all traces?"),
          Fernn.el("label", null, "up to ", length, " samples")), proof);
    }
    if (host.querySelector("code.a").textContent !== reading.formula) host.querySelector(".proof").replaceChildren();
    host.querySelector("code.a").textContent = reading.formula;
    compare(place, reading.formula, Studio.state.other || "");
  });

  // Whether they say the same of all traces, not only of those recorded.
  async function prove(host, a, b, length) {
    host.replaceChildren(Fernn.el("p.f-note", { role: "status" }, "Looking for a trace that tells them apart …"));
    try {
      const found = await Studio.ask("equiv", { a, b, length });
      const parts = found.traces.map((trace) => {
        const place = Fernn.el("div"), [holds, fails] = trace.only === "only_first" ? ["A", "B"] : ["B", "A"];
        Fernn.pair(place, trace.lanes, ["A", "B"]);
        return [Fernn.el("p.f-note", null, `The shortest trace that satisfies ${holds} and violates ${fails}: ${Fernn.counted(trace.samples, "sample")}.`), place];
      });
      const told = found.told.replace(/\bthe first\b/, "A").replace(/\bthe second\b/, "B");
      host.replaceChildren(Fernn.el("p", { role: "status" }, `A and B: ${told}${found.length ? ", with values as recorded" : ""}.`), ...parts.flat());
    } catch (problem) {
      Studio.failedIn(host)(problem);
    }
  }

  function compare(place, a, b) {
    if (b.trim()) return differ(place, a, b);
    differ.forget();
    place.replaceChildren(Fernn.el("p.f-note", null, "Name a second formula to see on which traces the two differ."));
  }

  function show(host, { cases, a, b }) {
    const { traces } = Studio.now;
    const rights = (which) => cases.filter((each) => each.good !== null && each[which] === each.good).length;
    const errors = [a, b].map((each) => (each.error ? Studio.rate(each.error.all) : "–"));
    const words = cases.length
      ? `They differ on ${cases.length} of ${traces.cases.length} traces` + (traces.good ? `: A is right on ${rights("a")} of these, B on ${rights("b")}.` : ".")
      : "They say the same of every trace.";
    const verdict = (each, which) => {
      const isWrong = each.good !== null && each[which] !== each.good;
      return Fernn.el("td", null, Fernn.el(isWrong ? "span.f-bad" : "span.f-good", null, `${each[which] ? "holds" : "fails"}${each.good === null ? "" : isWrong ? " ✗" : " ✓"}`));
    };
    const lanes = Fernn.el("div.f-many");
    const rows = cases.slice(0, MOST).map((each) => Fernn.el("tr", null,
      Fernn.el("td.text", null, Fernn.el("button.f-plain", { type: "button", onclick: () => both(lanes, each.index, a.formula, b.formula) }, traces.cases[each.index])),
      Fernn.el("td", null, each.good === null ? "" : traces.classes[each.good ? 1 : 0]), verdict(each, "a"), verdict(each, "b")));
    const head = Fernn.el("tr", null, Fernn.el("th.text", { scope: "col" }, "trace"), ["label", "A", "B"].map((name) => Fernn.el("th", { scope: "col" }, name)));
    host.replaceChildren(
      Fernn.el("p", null, words, ` Error: A ${errors[0]}, B ${errors[1]}.`),
      cases.length > MOST ? Fernn.el("p.f-note", null, `The first ${MOST} are listed.`) : "",
      cases.length ? Fernn.el("div.f-scroll.tall", null, Fernn.el("table.f-table", null, Fernn.el("thead", null, head), Fernn.el("tbody", null, rows))) : "",
      lanes);
    if (cases.length) both(lanes, (cases.find((each) => String(each.index) === Studio.state.case) || cases[0]).index, a.formula, b.formula, true);
  }

  // The trace on the panels above, and its lanes under each formula.
  async function both(host, index, a, b, isQuiet) {
    if (!isQuiet) Studio.chooseCase(index);
    try {
      const found = await Promise.all([a, b].map((formula) => Studio.ask("lanes", { formula, case: index })));
      const places = found.map(() => Fernn.el("div"));
      host.replaceChildren(...places.map((place, k) => Fernn.el("figure", null, Fernn.el("figcaption", null, k ? "B" : "A"), place)));
      found.forEach((lanes, k) => Fernn.lanes(places[k], lanes, { clock: Studio.now.traces.clock }));
    } catch (problem) {
      Studio.failedIn(host)(problem);
    }
  }
})((window.Studio = window.Studio || {}));
