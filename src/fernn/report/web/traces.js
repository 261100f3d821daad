// Traces by class, one panel a channel and one for each expression that a rule compares, and what the rule says of them.
(function (Fernn) {
  "use strict";

  const MOST = 6; // channels that are shown at once

  Fernn.traces = function (host, traces, options = {}) {
    const points = Fernn.points(traces);
    const root = Fernn.el("div.f-traces");
    const scene = {
      traces, points, reading: null, filter: "all", focus: null, hover: null, brush: null,
      span: [points.start, points.end],
      order: mixed(traces.drawn),
      pulled: null, // {threshold, level}: a threshold that is being moved, ahead of the reading
      visible: (index) => Fernn.passes(traces, scene.reading, scene.filter, index),
      wrong: (index) => Fernn.isWrong(traces, scene.reading, index),
      // The colour of a case lies between two, and is `share` of the first.
      ends: (isDeep) => (traces.good || traces.labels ? ["good", "bad"] : ["quiet", "quiet"]).map((name) =>
        isDeep ? { good: "good-deep", bad: "bad-deep", quiet: "ink" }[name] : name),
      share: (index) => share(scene, index),
      tone: (index, isDeep) => tone(scene, index, isDeep),
      marks: (channel) => marksOf(scene, channel),
    };
    if (points.end <= points.start) scene.span = [points.start - 0.5, points.end + 0.5];
    const whole = scene.span.slice();
    let panels = [], grips = [], shown = [], compared = [], width = 0, asked = 0, isSharp = false, later = 0;
    const stack = Fernn.el("div");
    const bar = Fernn.filterBar(traces, (filter) => view.filter(filter));
    const tip = Fernn.el("div.f-tip", { hidden: true });
    const note = Fernn.el("p.f-note");
    const choice = Fernn.channelBar(traces, MOST, (now) => ((shown = now), build()));
    shown = choice.shown;
    root.append(bar.node, choice.node, stack, tip, note);
    host.replaceChildren(root);
    scene.colours = colours(root);

    function build() {
      const every = [...shown, ...compared];
      const tall = every.length > 2 ? 150 : every.length > 1 ? 210 : 300;
      panels = every.map((channel, k) => {
        const isLast = k === every.length - 1;
        return Fernn.panel(scene, channel, tall + (isLast ? 30 : 0), isLast);
      });
      grips = panels.map((panel) => Fernn.grips(panel, options.onDrag && moved));
      stack.replaceChildren(...panels.map((panel) => panel.node));
      panels.forEach((panel, k) => {
        panel.under.tabIndex = k ? -1 : 0;
        Fernn.pointing(panel, grips[k], hands);
        if (width) panel.resize(width);
      });
      redraw(true);
    }

    // At most once a frame; sharp when anything asked for it.
    function redraw(sharp) {
      isSharp = isSharp || sharp;
      asked = asked || requestAnimationFrame(() => {
        asked = 0;
        if (!width) return;
        if (isSharp) tell();
        panels.forEach((panel, k) => {
          panel.draw(isSharp);
          panel.under.setAttribute("aria-label", `${points.channel(panel.channel).name}: ${bar.told()}. ` +
            "Arrow up and down choose a trace, plus and minus zoom, left and right move, Escape shows all.");
          grips[k].show(scene.marks(panel.channel));
        });
        isSharp = false;
      });
    }

    function zoom(from, to) {
      const least = Math.max((whole[1] - whole[0]) / 2000, Math.abs(traces.clock.step) * 2);
      const wide = Math.min(whole[1] - whole[0], Math.max(least, to - from));
      const start = Math.max(whole[0], Math.min(whole[1] - wide, from));
      scene.span = [start, start + wide];
      bar.zoomed(wide < whole[1] - whole[0]);
      redraw(false);
      clearTimeout(later);
      later = setTimeout(() => {
        redraw(true);
        finer();
      }, 90);
    }

    // More samples of what is in view, where there are some: `options.part(first, last)` gets them.
    let wanted = 0;
    async function finer() {
      tell();
      if (!options.part || !points.wants(scene.span)) return;
      const mine = ++wanted, [from, to] = scene.span.map(points.sampleAt), more = 0.25 * (to - from);
      const found = await options.part(Math.floor(from - more), Math.ceil(to + more)).catch(() => null); // the coarse picture stays
      if (!found || mine !== wanted || !root.isConnected) return;
      points.refine(found);
      redraw(true);
    }

    // What is not seen, and why.
    function tell() {
      const { reading } = scene;
      points.look(scene.span);
      const every = Math.round(points.every());
      const wrongs = reading ? traces.cases.map((_, i) => i).filter(scene.wrong) : [];
      const unseen = wrongs.filter((index) => !points.isDrawn(index)).length;
      note.textContent = [
        traces.drawn.length < traces.cases.length && `${traces.drawn.length} of ${traces.cases.length} traces are drawn.`,
        unseen && `${Fernn.counted(unseen, "trace")} that the rule gets wrong ${unseen === 1 ? "is" : "are"} not among them.`,
        every > 1 && `Of every ${every} samples of a long trace the least and the greatest value are drawn${options.part ? "; zoom in to see all" : ""}.`,
        ...((reading && reading.expressions) || []).filter((_, k) => !compared.includes(traces.channels.length + k)).map((each) => `${each.name} is not drawn.`),
        ...((reading && reading.notes) || []),
      ].filter(Boolean).join(" ");
    }

    function moved(mark, level, isOver) {
      scene.pulled = { threshold: mark.threshold, level };
      options.onDrag(mark.threshold, mark.weight === 1 ? level : +(level * mark.weight).toPrecision(12), isOver);
      if (isOver) scene.pulled.isOver = true;
      redraw(false);
    }

    // What hands can do; pointing.js turns events into these.
    const hands = {
      canPull: Boolean(options.onDrag),
      zoom, span: () => scene.span, reset: () => zoom(...whole),
      brush: (span) => ((scene.brush = span), panels.forEach((panel) => panel.drawOver())),
      choose: (index) => choose(index),
      step: (by) => {
        const list = traces.drawn.filter(scene.visible);
        if (list.length) choose(list[(list.indexOf(scene.focus) + by + list.length + (by < 0 && scene.focus === null)) % list.length]);
      },
      hover: (index, panel, event) => {
        const isOther = index !== scene.hover;
        scene.hover = index;
        if (isOther) panels.forEach((each) => each.drawOver());
        Fernn.tip(tip, root, scene, index, panel, event);
      },
    };

    function choose(index) {
      view.focus(index);
      if (options.onCase) options.onCase(index);
    }

    const view = {
      show(reading) {
        scene.reading = reading;
        if (scene.pulled && scene.pulled.isOver) scene.pulled = null;
        bar.show(reading);
        if (reading) choice.include(reading.read);
        const before = compared.map((k) => points.channel(k));
        compared = points.attach(reading ? reading.expressions : [], (reading && reading.sheet) || null);
        const isOther = compared.length !== before.length || compared.some((k, i) => points.channel(k) !== before[i]);
        tell();
        if (isOther) build();
        else redraw(scene.filter === "wrong");
        if (isOther) finer();
      },
      filter(name) {
        scene.filter = name;
        bar.press(name);
        redraw(true);
      },
      focus(index) {
        scene.focus = index;
        if (scene.reading && scene.reading.windows.some((each) => Object.keys(each).length)) redraw(false); // the samples that its functions read
        panels.forEach((panel) => width && panel.drawOver());
      },
      zoom,
    };
    bar.onReset = () => zoom(...whole);
    view.show(null);
    build();
    Fernn.onWidth(stack, (wide) => {
      width = wide;
      panels.forEach((panel) => panel.resize(width));
      redraw(true);
    });
    Fernn.onTheme(root, () => ((scene.colours = colours(root)), redraw(true)));
    return view;
  };

  Fernn.isWrong = (traces, reading, index) =>
    Boolean(reading && traces.good && reading.holds[index] !== traces.good[index]);

  Fernn.passes = function (traces, reading, filter, index) {
    if (filter === "wrong") return Fernn.isWrong(traces, reading, index);
    if (filter === "good" || filter === "bad") return !traces.good || traces.good[index] === (filter === "good" ? "1" : "0");
    return filter !== "test" || Boolean(traces.test && traces.test[index] === "1");
  };

  // An order in which no class is drawn over all of another; the same each time.
  const mixed = (drawn) => drawn.slice().sort((a, b) => ((a * 2654435761) >>> 0) - ((b * 2654435761) >>> 0));

  function colours(node) {
    const style = getComputedStyle(node);
    const names = ["paper", "grid", "line", "ink", "quiet", "faint", "good", "bad", "rule", "chosen", "good-deep", "bad-deep"];
    return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  }

  function share(scene, index) {
    const { good, labels } = scene.traces;
    if (good) return good[index] === "1" ? 1 : 0;
    if (!labels) return 1;
    scene.reach = scene.reach || labels.reduce(([low, high], label) => [Math.min(low, label), Math.max(high, label)], [Infinity, -Infinity]);
    return (labels[index] - scene.reach[0]) / (scene.reach[1] - scene.reach[0] || 1);
  }

  function tone(scene, index, isDeep) {
    const part = share(scene, index);
    const [one, other] = scene.ends(isDeep).map((name) => scene.colours[name]);
    return part === 1 ? one : part === 0 ? other : `color-mix(in srgb, ${one} ${Math.round(100 * part)}%, ${other})`;
  }

  function marksOf(scene, channel) {
    if (!scene.reading) return [];
    return scene.reading.marks.filter((mark) => mark.channel === channel).map((mark) => {
      const { text, weight } = scene.reading.thresholds[mark.threshold] || { text: "", weight: 1 };
      const isPulled = scene.pulled && scene.pulled.threshold === mark.threshold;
      return { ...mark, text, weight: weight || 1, level: isPulled ? scene.pulled.level : mark.level };
    });
  }
})((window.Fernn = window.Fernn || {}));
