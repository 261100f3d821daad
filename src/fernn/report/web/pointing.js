// What pointers and keys do to the traces, and what is said of the trace that is pointed at.
(function (Fernn) {
  "use strict";

  // A line under the pointer is pulled; a drag along the time axis zooms; a click chooses the nearest trace.
  Fernn.pointing = function (panel, grips, hands) {
    const canvas = panel.under;
    const place = (event) => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    let begun = null;

    canvas.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      const [px, py] = place(event);
      const mark = hands.canPull && panel.markAt(px, py);
      if (mark) return grips.held(event, mark, canvas);
      begun = px;
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      const [px, py] = place(event);
      if (begun !== null) {
        const isDrag = Math.abs(px - begun) > 5;
        hands.brush(isDrag ? [panel.timeAt(begun), panel.timeAt(px)].sort((a, b) => a - b) : null);
        if (isDrag) return hands.hover(null, panel, event);
      }
      const mark = hands.canPull && panel.markAt(px, py);
      canvas.style.cursor = mark ? "ns-resize" : panel.isAxis(py) ? "ew-resize" : "default";
      hands.hover(mark || panel.isAxis(py) ? null : panel.nearest(px, py), panel, event);
    });
    canvas.addEventListener("pointerup", (event) => {
      if (begun === null) return;
      const [px, py] = place(event);
      const span = [panel.timeAt(begun), panel.timeAt(px)].sort((a, b) => a - b);
      const isDrag = Math.abs(px - begun) > 5;
      begun = null;
      hands.brush(null);
      if (isDrag) return hands.zoom(...span);
      const index = panel.nearest(px, py);
      if (index !== null) hands.choose(index);
    });
    canvas.addEventListener("pointercancel", () => ((begun = null), hands.brush(null)));
    canvas.addEventListener("pointerleave", (event) => begun === null && hands.hover(null, panel, event));
    canvas.addEventListener("dblclick", hands.reset);
    // Over the time axis the wheel zooms; over the traces it does so with a key held, or the page could not be scrolled.
    canvas.addEventListener("wheel", (event) => {
      const [px, py] = place(event);
      if (!(panel.isAxis(py) || event.ctrlKey || event.metaKey || event.shiftKey)) return;
      event.preventDefault();
      around(hands, panel.timeAt(px), Math.exp((event.deltaY || event.deltaX) * 0.002));
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      const [from, to] = hands.span();
      const acts = {
        "+": () => around(hands, (from + to) / 2, 0.7),
        "=": () => around(hands, (from + to) / 2, 0.7),
        "-": () => around(hands, (from + to) / 2, 1 / 0.7),
        ArrowLeft: () => hands.zoom(from - (to - from) * 0.15, to - (to - from) * 0.15),
        ArrowRight: () => hands.zoom(from + (to - from) * 0.15, to + (to - from) * 0.15),
        ArrowUp: () => hands.step(-1),
        ArrowDown: () => hands.step(1),
        Escape: hands.reset,
      };
      if (!acts[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      event.stopPropagation();
      acts[event.key]();
    });
  };

  function around(hands, time, factor) {
    const [from, to] = hands.span();
    hands.zoom(time - (time - from) * factor, time + (to - time) * factor);
  }

  // Names the trace: its label, what the rule says of it and by how much.
  Fernn.tip = function (tip, root, scene, index, panel, event) {
    tip.hidden = index === null;
    if (index === null) return;
    const { traces, reading, points } = scene;
    const box = root.getBoundingClientRect();
    const lines = [Fernn.el("b", null, traces.cases[index])];
    if (traces.good) lines.push(Fernn.el("span", null, `labelled ${traces.classes[traces.good[index] === "1" ? 1 : 0]}`));
    else if (traces.labels) lines.push(Fernn.el("span", null, `label ${Fernn.short(traces.labels[index])}`));
    if (traces.test && traces.test[index] === "1") lines.push(Fernn.el("span", null, "kept for the test"));
    if (reading) {
      const isWrong = scene.wrong(index);
      const verdict = reading.holds[index] === "1" ? "the rule holds" : "the rule fails";
      const robustness = reading.robustness[index];
      const by = robustness === null ? "" : `, robustness ${Fernn.short(robustness)}`;
      lines.push(Fernn.el(isWrong ? "span.f-bad" : "span", null, `${verdict}${by}${isWrong ? ": wrong" : ""}`));
    }
    const each = points.series(index, panel.channel), sample = points.sample(index, panel.timeAt(event.clientX - box.left));
    const under = Math.max(0, points.before(index, panel.channel, sample));
    const k = under < each.n - 1 && each.sample(under + 1) - sample < sample - each.sample(under) ? under + 1 : under;
    if (each.n) {
      const value = points.said(panel.channel, each.values[k]);
      const time = Fernn.moment(points.time(index, each.sample(k)), traces.clock);
      lines.push(Fernn.el("span", null, `${points.channel(panel.channel).name} = ${value} at ${time}`));
    }
    tip.replaceChildren(...lines);
    const left = event.clientX - box.left, top = event.clientY - box.top;
    tip.style.left = `${Math.max(0, Math.min(left + 14, box.width - tip.offsetWidth - 4))}px`;
    tip.style.top = `${top + 18}px`;
  };
})((window.Fernn = window.Fernn || {}));
