// The front: error against length as a chart, and the formulas as a table. One of them is chosen, with a click or arrow keys.
(function (Fernn) {
  "use strict";

  const COLUMNS = [["train", "train"], ["validation", "validation"], ["test", "test"]];

  // rows: [{length, train, validation, spread, test, formula}]; chosen: -1 for none of them; `rate` puts an error into words (mean errors are no shares).
  Fernn.front = function (host, rows, { picked = null, chosen = null, onChoose = null, rate = Fernn.percent } = {}) {
    const hadFocus = host.contains(document.activeElement) && document.activeElement.tagName === "BUTTON";
    if (!rows.length) return host.replaceChildren(Fernn.el("p.f-note", null, "No formula yet."));
    const columns = COLUMNS.filter(([key]) => rows.some((row) => number(row[key])));
    const root = Fernn.el("div.f-front");
    const current = chosen === null ? picked : chosen < 0 ? null : chosen;
    const choose = (index) => onChoose && index >= 0 && index < rows.length && onChoose(index);
    const chart = Fernn.el("div");
    root.append(legend(columns), chart, table(rows, columns, picked, current, choose, rate));
    host.replaceChildren(root);
    Fernn.chart(chart, "error against length", (width) => drawn(rows, columns, current, choose, rate, width));
    root.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
      const to = { Home: 0, End: rows.length - 1 }[event.key] ?? (step && (current ?? -step) + step);
      if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      event.stopPropagation();
      choose(Math.max(0, Math.min(rows.length - 1, to)));
    });
    if (hadFocus) host.querySelector("button[tabindex='0']")?.focus({ preventScroll: true });
  };

  const number = (value) => value !== null && value !== undefined;

  function legend(columns) {
    const keys = columns.map(([key, name]) => {
      const mark = Fernn.svg("svg.f-chart", { width: 14, height: 10 }, Fernn.svg(`circle.dot.${key}`, { cx: 7, cy: 5, r: 4 }));
      mark.style.width = "14px";
      return Fernn.el("span.f-key", null, mark, name);
    });
    return Fernn.el("div.f-bar", null, keys);
  }

  function drawn(rows, columns, current, choose, rate, width) {
    const height = 170, left = 46, right = 12, top = 8, bottom = 34;
    const lengths = rows.map((row) => row.length);
    const errors = rows.flatMap((row) => columns.map(([key]) => row[key]).concat((row.validation ?? 0) + (row.spread ?? 0)));
    const most = Math.max(...errors.filter(number)) || 0.01;
    const x = Fernn.scale(Math.min(...lengths) - 0.5, Math.max(...lengths) + 0.5, left, width - right);
    const y = Fernn.scale(0, most * 1.06, height - bottom, top);
    const parts = Fernn.ticks(0, most * 1.06, 4).flatMap((tick) => [
      Fernn.svg("line.grid", { x1: left, x2: width - right, y1: y(tick), y2: y(tick) }),
      Fernn.svg("text.end", { x: left - 6, y: y(tick) + 4 }, rate(tick)),
    ]);
    for (const tick of Fernn.counts(Math.min(...lengths), Math.max(...lengths), 8)) {
      parts.push(Fernn.svg("text.mid", { x: x(tick), y: height - bottom + 15 }, String(tick)));
    }
    parts.push(Fernn.svg("text.mid", { x: (left + width - right) / 2, y: height - 3 }, "length of the formula"));
    if (number(current)) {
      parts.push(Fernn.svg("rect.stripe", { x: x(lengths[current] - 0.5), y: top, width: x(1) - x(0), height: height - bottom - top }));
    }
    columns.forEach(([key], rank) => {
      const shift = (rank - (columns.length - 1) / 2) * 7; // side by side where they are equal
      const there = rows.filter((row) => number(row[key]));
      const path = there.map((row, k) => `${k ? "L" : "M"}${x(row.length) + shift},${y(row[key])}`).join("");
      parts.push(Fernn.svg(`path.line.${key === "validation" ? "valid" : key}`, { d: path, "stroke-opacity": 0.55 }));
      for (const row of there) {
        const at = x(row.length) + shift;
        if (key === "validation" && row.spread) {
          parts.push(Fernn.svg("line.bar", { x1: at, x2: at, y1: y(Math.max(0, row[key] - row.spread)), y2: y(row[key] + row.spread) }));
        }
        parts.push(Fernn.svg(`circle.dot.${key}`, { cx: at, cy: y(row[key]), r: 4 }));
      }
    });
    rows.forEach((row, k) => parts.push(Fernn.svg("rect.hit", {
      x: x(row.length - 0.5), y: 0, width: x(1) - x(0), height: height - bottom, onclick: () => choose(k),
    }, Fernn.svg("title", null, row.formula))));
    return [height, parts];
  }

  function table(rows, columns, picked, current, choose, rate) {
    const head = Fernn.el("tr", null, Fernn.el("th.text", { scope: "col" }, "formula"), Fernn.el("th", { scope: "col" }, "length"),
      columns.map(([key, name]) => Fernn.el(`th.${key}`, { scope: "col" }, name)));
    const body = rows.map((row, k) => Fernn.el(k === current ? "tr.chosen" : "tr", { onclick: () => choose(k) },
      Fernn.el("td.text", null,
        Fernn.el("button", { type: "button", tabindex: k === (current ?? 0) ? "0" : "-1", "aria-current": k === current && "true" }, row.formula),
        k === picked && Fernn.el("span.f-picked", null, "picked")),
      Fernn.el("td", null, String(row.length)),
      columns.map(([key]) => Fernn.el(`td.${key}`, null, rate(row[key]) +
        (key === "validation" && row.spread && number(row[key]) ? ` ± ${rate(row.spread)}` : "")))));
    return Fernn.el("div.f-scroll", null, Fernn.el("table.f-table", null, Fernn.el("thead", null, head), Fernn.el("tbody", null, body)));
  }
})((window.Fernn = window.Fernn || {}));
