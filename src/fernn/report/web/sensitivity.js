// How the error changes when one threshold moves and the others stay.
(function (Fernn) {
  "use strict";

  Fernn.sensitivity = function (host, list, { rate = Fernn.percent } = {}) {
    if (!list.length) return host.replaceChildren(Fernn.el("p.f-note", null, "The formula has no threshold."));
    const most = Math.max(...list.flatMap((each) => [...each.error, ...(each.test || [])]).filter((e) => e !== null), 0.01);
    const root = Fernn.el("div.f-many");
    host.replaceChildren(root);
    for (const each of list) {
      const chart = Fernn.el("div");
      root.append(Fernn.el("figure", null, Fernn.el("figcaption", null, each.text), chart, Fernn.el("p.f-note", null, said(each))));
      Fernn.chart(chart, `error as the threshold of ${each.text} moves`, (width) => drawn(each, most, rate, width));
    }
    if (list.some((each) => each.test)) {
      root.before(Fernn.el("div.f-bar", null, key("train", "train"), key("test", "test")));
    }
  };

  function key(kind, name) {
    const mark = Fernn.svg("svg.f-chart", { width: 22, height: 8 }, Fernn.svg(`path.line.${kind === "train" ? "valid" : kind}`, { d: "M0,4L22,4" }));
    mark.style.width = "22px";
    return Fernn.el("span.f-key", null, mark, name);
  }

  function said(each) {
    if (!each.flat) return "";
    const [low, high] = each.flat.map((end) => (end === null ? null : rounded(end)));
    if (!low && !high) return "Any threshold gives the same verdicts.";
    const from = low && `${low.side > 0 ? "above" : "from"} ${low.text}`, to = high && `${high.side < 0 ? "below" : "up to"} ${high.text}`;
    if (!low) return `Any threshold ${to} gives the same verdicts.`;
    if (!high) return `Any threshold ${from}${low.side > 0 ? "" : " on"} gives the same verdicts.`;
    return `Any threshold ${from} ${high.side < 0 ? `and ${to}` : to} gives the same verdicts.`;
  }

  const ROUND = 12; // digits: a number of fewer was written by somebody

  const TINY = 1e-300; // what is smaller has few digits without having been written so

  // An end that is the very next number above (side 1) or below (−1) one with few digits is told as that one.
  function rounded(end) {
    const plain = (value) => value === 0 || (Math.abs(value) > TINY && Number(value.toPrecision(ROUND)) === value);
    const side = plain(end) ? 0 : plain(next(end, -1)) ? 1 : plain(next(end, 1)) ? -1 : 0;
    return { side, text: Fernn.short(side ? next(end, -side) : end, 5) };
  }

  // The number next to this one, above or below.
  function next(value, by) {
    if (value === 0) return by * Number.MIN_VALUE;
    const view = new DataView(new ArrayBuffer(8));
    view.setFloat64(0, value);
    view.setBigInt64(0, view.getBigInt64(0) + BigInt(by * Math.sign(value)));
    return view.getFloat64(0) + 0; // no −0
  }

  function drawn(each, most, rate, width) {
    const height = 130, left = 42, right = 8, top = 6, bottom = 22;
    const x = Fernn.scale(each.at[0], each.at[each.at.length - 1], left, width - right);
    const y = Fernn.scale(0, most * 1.05, height - bottom, top);
    const clamp = (place) => Math.max(left, Math.min(width - right, place));
    const path = (values) => values.map((value, k) => `${k ? "L" : "M"}${x(each.at[k]).toFixed(1)},${y(value ?? 0).toFixed(1)}`).join("");
    const parts = Fernn.ticks(0, most * 1.05, 3).flatMap((tick) => [
      Fernn.svg("line.grid", { x1: left, x2: width - right, y1: y(tick), y2: y(tick) }),
      Fernn.svg("text.end", { x: left - 6, y: y(tick) + 4 }, rate(tick)),
    ]);
    for (const tick of Fernn.ticks(each.at[0], each.at[each.at.length - 1], width / 80)) {
      parts.push(Fernn.svg("text.mid", { x: x(tick), y: height - 6 }, Fernn.plain(tick)));
    }
    if (each.flat) {
      const from = each.flat[0] === null ? left : clamp(x(each.flat[0]));
      const to = each.flat[1] === null ? width - right : clamp(x(each.flat[1]));
      parts.push(Fernn.svg("rect.flat", { x: from, y: top, width: Math.max(1, to - from), height: height - bottom - top }));
    }
    parts.push(Fernn.svg("path.line.valid", { d: path(each.error) }));
    if (each.test) parts.push(Fernn.svg("path.line.test", { d: path(each.test) }));
    parts.push(Fernn.svg("line.now", { x1: clamp(x(each.value)), x2: clamp(x(each.value)), y1: top, y2: height - bottom }));
    return [height, parts];
  }
})((window.Fernn = window.Fernn || {}));
