// One trace: its channels and the expressions that the rule compares, with their thresholds, and how far every sub-formula holds
// or fails at each sample.
(function (Fernn) {
  "use strict";

  const LEFT = 2, RIGHT = 2, LABEL = 18, ROW = 34, GAP = 6;

  // `clock` is that of the traces payload, where there is one: times instead of samples.
  Fernn.lanes = function (host, lanes, { clock = null } = {}) {
    const readout = Fernn.el("p.f-note", { "aria-live": "off" });
    const chart = Fernn.el("div");
    host.replaceChildren(verdict(lanes, clock), chart, readout);
    const time = (sample) => (clock ? (sample + (clock.from_end ? 1 - lanes.length : 0)) * clock.step : sample);
    let x = null, cursor = null;
    const picture = Fernn.chart(chart, `sub-formulas of ${lanes.case}`, (width) => {
      const first = lanes.at[0], last = lanes.at[lanes.at.length - 1];
      x = Fernn.scale(first, last === first ? first + 1 : last, LEFT, width - RIGHT);
      const parts = [];
      const tall = (lanes.channels.length + lanes.rows.length) * (LABEL + ROW + GAP);
      if (lanes.deciding) {
        const at = x(lanes.deciding.sample);
        parts.push(Fernn.svg("line.decides", { x1: at, x2: at, y1: LABEL, y2: tall }));
      }
      let top = 0;
      for (const channel of lanes.channels) {
        parts.push(label(channel.name, 0, top), signal(lanes, channel, x, top + LABEL));
        top += LABEL + ROW + GAP;
      }
      for (const row of lanes.rows) {
        parts.push(label(row.text, row.depth, top), margin(lanes, row, x, top + LABEL));
        top += LABEL + ROW + GAP;
      }
      parts.push(axis(time, x, first, last, top, width, clock));
      cursor = Fernn.svg("line.cursor", { y1: 0, y2: top, visibility: "hidden" });
      return [top + 32, parts, cursor];
    });
    picture.addEventListener("pointermove", (event) => {
      const sample = x.back(event.clientX - picture.getBoundingClientRect().left);
      const k = nearest(lanes.at, sample);
      cursor.setAttribute("visibility", "visible");
      cursor.setAttribute("x1", x(lanes.at[k]));
      cursor.setAttribute("x2", x(lanes.at[k]));
      readout.textContent = [`at ${Fernn.moment(time(lanes.at[k]), clock)}`,
        ...lanes.channels.map((channel) => `${channel.name} = ${said(channel, k)}`),
        ...lanes.rows.map((row) => `${row.text}: ${row.values[k] === null ? (row.holds[k] === "1" ? "holds" : "fails") : Fernn.short(row.values[k])}`),
      ].join(" · ");
    });
    picture.addEventListener("pointerleave", () => {
      readout.textContent = "";
      cursor.setAttribute("visibility", "hidden");
    });
  };

  function verdict(lanes, clock) {
    const { holds, robustness } = lanes.verdict;
    const by = robustness === null ? "" : `, robustness ${Fernn.short(robustness)}`;
    const at = (sample) => (clock ? Fernn.moment((sample + (clock.from_end ? 1 - lanes.length : 0)) * clock.step, clock) : `sample ${sample}`);
    const { deciding } = lanes;
    const value = deciding && deciding.value !== null ? `, where ${deciding.what} = ${Fernn.short(deciding.value)}` : "";
    const why = deciding ? `; decided by ${deciding.atom} at ${at(deciding.sample)}${value}` : "";
    const windows = deciding && deciding.windows.length ? `. ${deciding.windows.join(". ")}.` : "";
    return Fernn.el("p.f-note", null, Fernn.el("b", null, lanes.case), ": the rule ",
      Fernn.el(holds ? "span.f-good" : "span.f-bad", null, holds ? "holds" : "fails"), `${by}${why}${windows}`);
  }

  const said = (channel, k) => {
    if (!channel.endless || channel.endless[k] !== "1") return Fernn.short(channel.values[k]);
    return channel.values[k] === Math.max(...channel.values) ? "∞" : "−∞";
  };

  const label = (text, depth, top) => Fernn.svg("text.mono", { x: LEFT + 14 * depth, y: top + 13 }, text);

  const finite = (values) => values.filter((value) => value !== null);

  const FAR = 1; // ranges of the values beyond which a threshold would crush them, and is not drawn

  // Its values, its thresholds with ticks to the side that counts against the rule, and what of it decides.
  function signal(lanes, channel, x, top) {
    const { values, marks } = channel;
    const low = Math.min(...values), high = Math.max(...values), room = FAR * (high - low || Math.abs(high) || 1);
    const seen = marks.filter((mark) => mark.level >= low - room && mark.level <= high + room), levels = seen.map((mark) => mark.level);
    const y = Fernn.scale(Math.min(low, ...levels), Math.max(high, ...levels), top + ROW - 2, top + 2);
    const parts = [];
    if (channel.reads) {
      const [from, to] = channel.reads.map((sample) => x(sample));
      parts.push(Fernn.svg("rect.reads", { x: from - 1, y: top, width: to - from + 2, height: ROW }));
    }
    parts.push(Fernn.svg("path.line", { d: path(lanes.at, values, x, y) }));
    for (const mark of seen) parts.push(...mark.runs.map(([first, last]) => Fernn.svg("path.threshold", { d: threshold(mark, x(first), x(last), y(mark.level)) }, Fernn.svg("title", null, `threshold ${Fernn.plain(mark.level)}`))));
    const k = channel.decides ? lanes.at.indexOf(lanes.deciding.sample) : -1;
    if (k >= 0) parts.push(Fernn.svg("circle.decided", { cx: x(lanes.at[k]), cy: y(values[k]), r: 4 }));
    return parts;
  }

  function threshold(mark, from, to, at) {
    const more = Math.max(0, 9 - (to - from)) / 2, side = mark.above_is_bad ? -4 : 4; // a single sample is seen too
    let line = `M${(from - more).toFixed(1)},${at.toFixed(1)}L${(to + more).toFixed(1)},${at.toFixed(1)}`;
    for (let tick = from - more + 2; tick < to + more; tick += 9) line += `M${tick.toFixed(1)},${at.toFixed(1)}l3,${side}`;
    return line;
  }

  function path(at, values, x, y) {
    let isOpen = false;
    return values.map((value, k) => {
      if (value === null) return (isOpen = false), "";
      const step = `${isOpen ? "L" : "M"}${x(at[k]).toFixed(1)},${y(value).toFixed(1)}`;
      isOpen = true;
      return step;
    }).join("");
  }

  // Robustness around zero: above it the sub-formula holds. What is infinite lies at the edge. A strip shows the verdict.
  function margin(lanes, row, x, top) {
    const most = Math.max(...finite(row.values).map(Math.abs), 1e-12);
    const y = Fernn.scale(-most, most, top + ROW - 5, top + 1);
    const values = row.values.map((value, k) => (value === null ? (row.holds[k] === "1" ? most : -most) : value));
    const zero = y(0);
    const area = (sign) => {
      const edge = values.map((value, k) => `L${x(lanes.at[k]).toFixed(1)},${y(sign * Math.max(0, sign * value)).toFixed(1)}`).join("");
      return `M${x(lanes.at[0])},${zero}${edge}L${x(lanes.at[lanes.at.length - 1])},${zero}Z`;
    };
    const strips = runs(row.holds).map(([from, to, holds]) => {
      const start = x(from ? (lanes.at[from - 1] + lanes.at[from]) / 2 : lanes.at[0]);
      const end = x(to < lanes.at.length - 1 ? (lanes.at[to] + lanes.at[to + 1]) / 2 : lanes.at[to]);
      return Fernn.svg(holds ? "rect.holds" : "rect.fails", { x: start, y: top + ROW - 3, width: Math.max(1, end - start), height: 3 });
    });
    return [
      Fernn.svg("line.axis", { x1: x(lanes.at[0]), x2: x(lanes.at[lanes.at.length - 1]), y1: zero, y2: zero }),
      Fernn.svg("path.plus", { d: area(1) }), Fernn.svg("path.minus", { d: area(-1) }),
      Fernn.svg("path.line", { d: path(lanes.at, values, x, y), "stroke-width": 1 }), strips,
    ];
  }

  function runs(holds) {
    const found = [];
    for (let k = 0; k < holds.length; k++) {
      const last = found[found.length - 1];
      if (last && (holds[k] === "1") === last[2]) last[1] = k;
      else found.push([k, k, holds[k] === "1"]);
    }
    return found;
  }

  function axis(time, x, first, last, top, width, clock) {
    const ticks = Fernn.ticks(time(first), time(last), width / 90);
    const back = Fernn.scale(time(first), time(last) === time(first) ? time(first) + 1 : time(last), x(first), x(last));
    return [
      ticks.map((tick) => Fernn.svg("text.mid", { x: Math.max(8, Math.min(width - 12, back(tick))), y: top + 12 }, Fernn.plain(tick))),
      Fernn.svg("text.mid", { x: width / 2, y: top + 28 }, clock ? clock.label : "sample"),
    ];
  }

  function nearest(at, sample) {
    let best = 0;
    for (let k = 1; k < at.length; k++) if (Math.abs(at[k] - sample) < Math.abs(at[best] - sample)) best = k;
    return best;
  }
})((window.Fernn = window.Fernn || {}));
