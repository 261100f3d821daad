// One channel, or one expression of a rule: its traces on a canvas. Thin traces are drawn once to a layer of their own; what the rule says of
// them is drawn over that layer, and what is pointed at on a second canvas, so that neither has to wait for them.
(function (Fernn) {
  "use strict";

  const LEFT = 48, RIGHT = 56, TOP = 20;
  const CROWD = 150; // traces from which ink is counted instead of drawn

  // `scene` is what all panels share: points, reading, span (times in view), visible, wrong, tone, colours, hover, focus.
  Fernn.panel = function (scene, channel, height, isLast) {
    const under = Fernn.el("canvas", { role: "img" });
    const over = Fernn.el("canvas.over", { "aria-hidden": "true" });
    const node = Fernn.el("div.f-panel", null, under, over);
    const layer = document.createElement("canvas"), spare = document.createElement("canvas");
    const bottom = isLast ? 36 : 6;
    const { low, high, endless = [] } = scene.points.channel(channel);
    const pad = 0.06 * (high - low);
    let width = 0, drawnSpan = null;
    let x = null;
    const y = Fernn.scale(low - pad, high + pad, height - bottom, TOP);
    node.style.height = `${height}px`;

    function resize(wide) {
      width = wide;
      for (const canvas of [under, over, layer, spare]) {
        const ratio = window.devicePixelRatio || 1;
        canvas.width = Math.round(width * ratio);
        canvas.height = Math.round(height * ratio);
        canvas.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
      }
    }

    // No threshold lies beyond what is infinite.
    const edges = [endless[1] ? y(high) + 6 : TOP, endless[0] ? y(low) - 6 : height - bottom];
    const inside = (py) => Math.max(edges[0], Math.min(edges[1], py));
    const place = () => ({
      scene, channel, x, y, isLast, inside, left: LEFT, right: width - RIGHT, top: TOP, bottom: height - bottom, range: [low - pad, high + pad],
    });

    function cleared(canvas) {
      const pen = canvas.getContext("2d");
      pen.clearRect(0, 0, width, height);
      return pen;
    }

    function clipped(pen, draw) {
      pen.save();
      pen.beginPath();
      pen.rect(LEFT, TOP - 4, width - LEFT - RIGHT, height - bottom - TOP + 8);
      pen.clip();
      draw();
      pen.restore();
    }

    // The part of a trace that is in view, as a path.
    function path(pen, index) {
      const { points, span } = scene;
      const each = points.series(index, channel);
      if (!each.n) return;
      const [first, end] = points.within(index, channel, span);
      const px = (k) => x(points.time(index, each.sample(k))), py = (k) => y(points.level(channel, each.values[k]));
      pen.beginPath();
      for (let k = first; k <= end; k++) pen.lineTo(px(k), py(k));
      if (first === end) pen.arc(px(end), py(end), 1, 0, 7);
      pen.stroke();
    }

    // Ink of a crowd, in pixels of the device, as a picture laid over `canvas`.
    function crowded(canvas, indices, isDeep, strength) {
      const ratio = window.devicePixelRatio || 1, { points, span, colours } = scene;
      const left = Math.round(LEFT * ratio), top = Math.round((TOP - 4) * ratio);
      const sheet = Fernn.density(Math.round((width - RIGHT) * ratio) - left, Math.round((height - bottom + 4) * ratio) - top);
      const zero = y(low) * ratio - top, unit = ((y(high) - y(low)) * ratio) / 65535;
      for (const index of indices) {
        const { values, n, samples = null, start: offset } = points.series(index, channel), share = scene.share(index);
        if (!n) continue;
        const [from, end] = points.within(index, channel, span);
        const start = x(points.time(index, 0)) * ratio - left;
        const pace = (x(points.time(index, 1)) - x(points.time(index, 0))) * ratio;
        const px = (k) => start + (samples ? samples[k] : offset + k) * pace;
        if (n === 1) sheet.line(px(0) - 1, zero + values[0] * unit, px(0) + 1.5, zero + values[0] * unit, share);
        for (let k = from, at = px(from); k < end; k++) {
          const next = px(k + 1);
          sheet.line(at, zero + values[k] * unit, next, zero + values[k + 1] * unit, share);
          at = next;
        }
      }
      const ends = scene.ends(isDeep).map((name) => Fernn.rgb(colours[name]));
      canvas.getContext("2d").putImageData(sheet.picture(...ends, strength), left, top);
    }

    // The layer of thin traces: again only where span, size, filter or colours are others.
    function thin() {
      const pen = cleared(layer);
      const shown = scene.order.filter(scene.visible);
      drawnSpan = scene.span.slice();
      if (shown.length > CROWD) return crowded(layer, shown, false, Math.max(0.12, 6 / Math.sqrt(shown.length)));
      pen.lineJoin = "bevel";
      pen.lineWidth = 1;
      pen.globalAlpha = Math.min(0.75, 6 / Math.sqrt(shown.length + 1));
      clipped(pen, () => strokes(pen, shown, false));
    }

    function strokes(pen, indices, isDeep) {
      for (const index of indices) {
        pen.strokeStyle = scene.tone(index, isDeep);
        path(pen, index);
      }
    }

    // The traces that the rule gets wrong, dark and thick.
    function wrongs(pen) {
      const shown = scene.reading ? scene.order.filter((index) => scene.visible(index) && scene.wrong(index)) : [];
      pen.lineJoin = "round";
      pen.lineWidth = 1.6;
      pen.globalAlpha = 0.9;
      if (shown.length > CROWD) {
        cleared(spare);
        crowded(spare, shown, true, 0.8);
        pen.drawImage(spare, 0, 0, width, height);
      } else strokes(pen, shown, true);
      pen.globalAlpha = 1;
    }

    // All but what is pointed at. While someone zooms, the old layer is stretched; `isSharp` draws it anew.
    function draw(isSharp) {
      x = Fernn.scale(scene.span[0], scene.span[1], LEFT, width - RIGHT);
      scene.points.look(scene.span);
      if (isSharp || !drawnSpan) thin();
      const pen = cleared(under);
      const here = place();
      Fernn.grid(pen, here);
      clipped(pen, () => {
        Fernn.window(pen, here, scene.focus);
        const from = x(drawnSpan[0]), to = x(drawnSpan[1]);
        const scale = (to - from) / (width - LEFT - RIGHT);
        pen.drawImage(layer, from - LEFT * scale, 0, width * scale, height);
        if (scene.filter === "all") Fernn.medians(pen, here);
        wrongs(pen);
        Fernn.dots(pen, here);
        Fernn.marks(pen, here);
      });
      drawOver();
    }

    function drawOver() {
      if (!x) return;
      const pen = cleared(over);
      const colours = scene.colours;
      clipped(pen, () => {
        for (const index of new Set([scene.focus, scene.hover])) {
          if (index === null || !scene.points.isDrawn(index)) continue;
          pen.lineJoin = "round";
          pen.strokeStyle = colours.paper;
          pen.lineWidth = 5;
          path(pen, index);
          pen.strokeStyle = index === scene.focus ? colours.chosen : scene.tone(index, true);
          pen.lineWidth = 2.4;
          path(pen, index);
          Fernn.decides(pen, place(), index);
        }
        if (scene.brush) {
          const [from, to] = scene.brush.map((time) => x(time));
          pen.globalAlpha = 0.12;
          pen.fillStyle = colours.ink;
          pen.fillRect(from, TOP, to - from, height - bottom - TOP);
        }
      });
    }

    // The trace that is nearest to a place, within a few pixels.
    function nearest(px, py) {
      let best = null, least = 10;
      const { points } = scene;
      const time = x.back(px);
      for (const index of scene.order) {
        if (!scene.visible(index)) continue;
        const each = points.series(index, channel), middle = points.before(index, channel, points.sample(index, time));
        const at = (k) => x(points.time(index, each.sample(k))), up = (k) => y(points.level(channel, each.values[k]));
        for (let k = Math.max(0, middle - 1); k <= Math.min(each.n - 2, middle + 1); k++) {
          const away = distance(px, py, at(k), up(k), at(k + 1), up(k + 1));
          if (away < least) [least, best] = [away, index];
        }
      }
      return best;
    }

    function distance(px, py, ax, ay, bx, by) {
      const dx = bx - ax, dy = by - ay;
      const share = Math.max(0, Math.min(1, ((px - ax) * dx + (py - ay) * dy) / (dx * dx + dy * dy || 1)));
      return Math.hypot(px - ax - share * dx, py - ay - share * dy);
    }

    // The threshold whose line is here.
    const markAt = (px, py) =>
      scene.marks(channel).find((mark) => Math.abs(py - inside(y(mark.level))) < 6 &&
        Fernn.extents(place(), mark).some(([from, to]) => px >= from - 3 && px <= to + 3)) || null;

    return {
      node, under, channel, resize, draw, drawOver, nearest, markAt,
      timeAt: (px) => x.back(px),
      levelAt: (py) => y.back(inside(py)),
      placeOf: (level) => inside(y(level)),
      isAxis: (py) => isLast && py > height - bottom,
      range: [low - pad, high + pad],
      step: (high - low) / 200,
    };
  };
})((window.Fernn = window.Fernn || {}));
