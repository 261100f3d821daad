// The rows of choices above the traces: which cases, which channels.
(function (Fernn) {
  "use strict";

  Fernn.filterBar = function (traces, chosen) {
    const count = (filter, reading) => traces.cases.reduce((n, _, i) => n + Fernn.passes(traces, reading, filter, i), 0);
    const kinds = [["all", "all"]];
    if (traces.good) kinds.push(["good", traces.classes[1] || "good"], ["bad", traces.classes[0] || "bad"], ["wrong", "wrong"]);
    if (traces.test) kinds.push(["test", "test"]);
    const buttons = new Map(kinds.map(([kind, name]) => {
      const number = Fernn.el("span");
      const swatch = (kind === "good" || kind === "bad") && Fernn.el(`span.f-swatch.${kind}`);
      const button = Fernn.el("button", { type: "button", "aria-pressed": String(kind === "all"), onclick: () => chosen(kind) },
        Fernn.el("span.f-key", null, swatch, name, number));
      number.textContent = kind === "wrong" ? "" : count(kind, null);
      return [kind, { button, number }];
    }));
    const reset = Fernn.el("button.f-plain", { type: "button", hidden: true, onclick: () => bar.onReset() }, "reset zoom");
    const bar = {
      node: Fernn.el("div.f-bar", null,
        Fernn.el("div.f-choice", { role: "group", "aria-label": "which traces" }, [...buttons.values()].map((each) => each.button)), reset),
      press: (filter) => buttons.forEach((each, kind) => each.button.setAttribute("aria-pressed", String(kind === filter))),
      zoomed: (isZoomed) => (reset.hidden = !isZoomed),
      show(reading) {
        const wrong = buttons.get("wrong");
        if (!wrong) return;
        wrong.button.disabled = !reading;
        wrong.number.textContent = reading ? count("wrong", reading) : "";
      },
      told: () => [...buttons.values()].map((each) => each.button.textContent).join(", "),
      onReset: () => {},
    };
    return bar;
  };

  // All channels, or, of more than `most`, those that are chosen.
  Fernn.channelBar = function (traces, most, chosen) {
    const all = traces.channels.map((_, k) => k);
    const node = Fernn.el("div.f-bar", { hidden: all.length <= most });
    if (all.length <= most) return { node, shown: all, include: () => {} };
    let shown = all.slice(0, most);
    const told = Fernn.el("span", null);
    const boxes = traces.channels.map((channel, k) => Fernn.el("button", {
      type: "button", "aria-pressed": String(shown.includes(k)), onclick: () => toggled(k),
    }, channel.name));
    function toggled(k) {
      shown = shown.includes(k) ? shown.filter((each) => each !== k) : [...shown, k].sort((a, b) => a - b);
      if (!shown.length) shown = [k];
      boxes.forEach((box, each) => box.setAttribute("aria-pressed", String(shown.includes(each))));
      say();
      chosen(shown);
    }
    // What a rule reads is seen.
    const include = (list) => list.forEach((k) => k >= 0 && !shown.includes(k) && toggled(k));
    const say = () => (told.textContent = `${shown.length} of ${all.length} channels`);
    say();
    node.append(Fernn.el("details", null, Fernn.el("summary", null, told),
      Fernn.el("div.f-choice", { role: "group", "aria-label": "which channels" }, boxes)));
    return { node, shown, include };
  };
})((window.Fernn = window.Fernn || {}));
