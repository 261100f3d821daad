// What a rule says, drawn on a panel: the samples that decide, those that functions read for it, and its thresholds over the
// samples that it looks at.
(function (Fernn) {
  "use strict";

  // The sample that decides each trace; where many fall on one spot, one dot stands for them.
  Fernn.dots = function (pen, place) {
    const { scene, channel } = place;
    const deciding = scene.reading && scene.reading.deciding;
    if (!deciding) return;
    const taken = new Set();
    for (const index of scene.order) {
      if (deciding.channel[index] !== channel || deciding.sample[index] < 0 || !scene.visible(index)) continue;
      const isWrong = scene.wrong(index), fill = scene.tone(index, true);
      const [px, py] = spot(place, index, deciding.sample[index]);
      const key = `${Math.round(px / 2)},${Math.round(py / 2)},${isWrong},${fill}`;
      if (taken.has(key)) continue;
      taken.add(key);
      dot(pen, px, py, isWrong ? 3.2 : 1.8, fill, scene.colours.paper);
    }
  };

  // Where the deciding sample was recorded: its own time and value, also where the line is drawn with fewer points.
  function spot({ scene: { points, reading }, channel, x, y }, index, sample) {
    const value = reading.deciding.value[index];
    return [x(points.time(index, sample)), y(value)];
  }

  function dot(pen, px, py, radius, fill, edge) {
    pen.beginPath();
    pen.arc(px, py, radius, 0, 7);
    pen.fillStyle = fill;
    pen.fill();
    pen.strokeStyle = edge;
    pen.lineWidth = 0.8;
    pen.stroke();
  }

  // Thresholds over the samples that the rule looks at, with ticks to the side that counts against it.
  Fernn.marks = function (pen, place) {
    for (const mark of place.scene.marks(place.channel)) {
      const at = place.inside(place.y(mark.level));
      pen.strokeStyle = place.scene.colours.rule;
      for (const [from, to] of Fernn.extents(place, mark)) {
        pen.lineWidth = 2;
        Fernn.stroke(pen, from, at, to, at);
        pen.lineWidth = 1;
        const side = mark.above_is_bad ? -5 : 5;
        for (let tick = from + 2; tick < to; tick += 9) Fernn.stroke(pen, tick, at, tick + 3, at + side);
      }
    }
  };

  // Where a threshold is looked at, from pixel to pixel.
  Fernn.extents = function ({ scene, x, left, right }, mark) {
    return mark.runs.map(([first, last]) => {
      const from = x(scene.points.longest(first)), to = x(scene.points.longest(last));
      const more = Math.max(0, 9 - (to - from)) / 2; // a single sample is seen too
      return [Math.max(left, from - more), Math.min(right, to + more)];
    }).filter(([from, to]) => to > from);
  };

  // The samples of a channel that the functions of the deciding atom read, for one trace.
  Fernn.window = function (pen, { scene: { reading, points, colours }, channel, x, top, bottom }, index) {
    const deciding = index !== null && reading && reading.deciding;
    if (!deciding || deciding.sample[index] < 0) return;
    const window = reading.windows[deciding.atom[index]]?.[channel];
    if (!window) return;
    const sample = deciding.sample[index], [far, near] = window;
    const first = far === null ? 0 : Math.max(0, sample - far), last = sample - near;
    if (last < first) return;
    const from = x(points.time(index, first)), to = x(points.time(index, last));
    pen.globalAlpha = 0.16;
    pen.fillStyle = colours.chosen;
    pen.fillRect(from - 1, top, Math.max(2, to - from + 2), bottom - top);
    pen.globalAlpha = 1;
  };

  // The deciding sample of one trace, large.
  Fernn.decides = function (pen, place, index) {
    const { reading, colours } = place.scene;
    if (!reading || !reading.deciding || reading.deciding.channel[index] !== place.channel) return;
    const sample = reading.deciding.sample[index];
    if (sample >= 0) dot(pen, ...spot(place, index, sample), 4.5, colours.rule, colours.paper);
  };
})((window.Fernn = window.Fernn || {}));
