// One trace through the eyes of the rule: a list of traces, those that are wrong first, and the lanes of the chosen one.
// And how the error moves with each threshold.
(function (Studio) {
  "use strict";

  const MOST = 400; // traces in the list

  const lanes = Studio.latest(
    (host, formula, index) => Studio.ask("lanes", { formula, case: index }),
    (found, isLast, host) => Fernn.lanes(host, found, { clock: Studio.now.traces && Studio.now.traces.clock }),
    (problem, host) => Studio.failedIn(host)(problem),
  );

  Studio.tab("trace", "One trace", (host) => {
    const { traces, reading } = Studio.now;
    if (!traces) return;
    const wrongs = traces.cases.map((_, index) => index).filter((index) => Fernn.isWrong(traces, reading, index));
    const isThere = Studio.state.case !== null && Number(Studio.state.case) < traces.cases.length;
    const now = isThere ? Number(Studio.state.case) : wrongs[0] ?? 0;
    const told = (index) => `${traces.cases[index]}${traces.good ? " (" + traces.classes[Number(traces.good[index])] + ")" : ""}`;
    const wrong = new Set(wrongs);
    const rest = traces.cases.map((_, index) => index).filter((index) => !wrong.has(index)).slice(0, MOST);
    if (!wrong.has(now) && !rest.includes(now)) rest.push(now);
    const option = (index) => Fernn.el("option", { value: index }, told(index));
    const menu = Fernn.el("select", { "aria-label": "trace", onchange: () => Studio.chooseCase(Number(menu.value)) },
      wrongs.length > 0 && Fernn.el("optgroup", { label: `wrong (${wrongs.length})` }, wrongs.slice(0, MOST).map(option)),
      Fernn.el("optgroup", { label: traces.good ? "right" : "traces" }, rest.map(option)));
    menu.value = now;
    const old = host.querySelector("select");
    const hadFocus = old && old === document.activeElement;
    let place = host.querySelector(".lanes");
    if (!place) place = Fernn.el("div.lanes");
    host.replaceChildren(Fernn.el("div.bar", null, menu,
      Fernn.el("button", { type: "button", disabled: !wrongs.length, onclick: () => Studio.stepWrong(-1) }, "Previous wrong"),
      Fernn.el("button", { type: "button", disabled: !wrongs.length, onclick: () => Studio.stepWrong(1) }, "Next wrong")), place);
    if (hadFocus) menu.focus();
    lanes(place, reading.formula, now);
  });

  const moving = Studio.latest(
    (host, formula) => Studio.ask("sensitivity", { formula }),
    (found, isLast, host) => Fernn.sensitivity(host, found, { rate: Studio.rate }),
    (problem, host) => Studio.failedIn(host)(problem),
  );

  Studio.tab("sensitivity", "Sensitivity", (host) => {
    if (!host.firstChild) host.replaceChildren(Fernn.el("p.f-note", null, "Moving each threshold …"));
    moving(host, Studio.now.reading.formula);
  });
})((window.Studio = window.Studio || {}));
