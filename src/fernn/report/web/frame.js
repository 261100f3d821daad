// What stands behind the traces of a panel and what sums them up: grid, axes, medians.
(function (Fernn) {
  "use strict";

  // `place` is that of a panel: its scene and channel, size, edges, and the scales x and y.
  Fernn.grid = function (pen, place) {
    const { scene, x, y, left, right, top, bottom, isLast } = place;
    const { colours, traces } = scene;
    const { name, low, high, endless = [] } = scene.points.channel(place.channel);
    const near = (tick) => (endless[1] && y(tick) - y(high) < 14) || (endless[0] && y(low) - y(tick) < 14);
    pen.font = "11px system-ui, sans-serif";
    pen.lineWidth = 1;
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    for (const tick of Fernn.ticks(...place.range, (bottom - top) / 36)) {
      pen.strokeStyle = colours.grid;
      pen.fillStyle = colours.quiet;
      if (near(tick)) continue;
      line(pen, left, Math.round(y(tick)) + 0.5, right, Math.round(y(tick)) + 0.5);
      pen.fillText(Fernn.plain(tick), left - 7, y(tick));
    }
    if (endless[1]) pen.fillText("∞", left - 7, y(high)); // a function may be infinite, and lies at the edge then
    if (endless[0]) pen.fillText("−∞", left - 7, y(low));
    pen.textAlign = "left";
    pen.fillStyle = colours.ink;
    pen.fillText(name, left, 8, right - left);
    if (!isLast) return;
    pen.textAlign = "center";
    pen.fillStyle = colours.quiet;
    for (const tick of Fernn.ticks(scene.span[0], scene.span[1], (right - left) / 90)) {
      pen.strokeStyle = colours.line;
      line(pen, Math.round(x(tick)) + 0.5, bottom, Math.round(x(tick)) + 0.5, bottom + 4);
      pen.fillText(Fernn.plain(tick), x(tick), bottom + 12);
    }
    pen.fillText(traces.clock.label, (left + right) / 2, bottom + 28);
  };

  // Medians, and the range of nine in ten where not every trace is drawn.
  Fernn.medians = function (pen, place) {
    const { scene, x, y } = place;
    const { colours } = scene;
    const bands = scene.points.bands(place.channel);
    const isPart = scene.traces.drawn.length < scene.traces.cases.length;
    const tones = { good: colours.good, bad: colours.bad, all: colours.quiet };
    for (const [which, band] of Object.entries(bands)) {
      if (!band) continue;
      const at = (k) => x(scene.points.longest(band.at[k]));
      pen.beginPath();
      band.median.forEach((value, k) => pen.lineTo(at(k), y(value)));
      pen.strokeStyle = colours.paper;
      pen.lineWidth = 4.5;
      pen.stroke();
      pen.strokeStyle = tones[which];
      pen.lineWidth = 2.2;
      pen.stroke();
      if (!isPart) continue;
      pen.beginPath();
      band.low.forEach((value, k) => pen.lineTo(at(k), y(value)));
      for (let k = band.high.length - 1; k >= 0; k--) pen.lineTo(at(k), y(band.high[k]));
      pen.globalAlpha = 0.12;
      pen.fillStyle = tones[which];
      pen.fill();
      pen.globalAlpha = 1;
    }
  };

  const line = Fernn.stroke = function (pen, x1, y1, x2, y2) {
    pen.beginPath();
    pen.moveTo(x1, y1);
    pen.lineTo(x2, y2);
    pen.stroke();
  };
})((window.Fernn = window.Fernn || {}));
