// Numbers: from values to pixels, to round ticks, and to short words.
(function (Fernn) {
  "use strict";

  // A straight line from [a, b] to [from, to]; `.back` is its inverse.
  Fernn.scale = function (a, b, from, to) {
    const slope = (to - from) / (b - a || 1);
    const at = (value) => from + (value - a) * slope;
    at.back = (place) => a + (place - from) / (slope || 1);
    return at;
  };

  // About `count` round numbers within [low, high].
  Fernn.ticks = function (low, high, count) {
    const rough = (high - low) / Math.max(1, count);
    if (!(rough > 0) || !isFinite(rough)) return [low];
    const power = Math.pow(10, Math.floor(Math.log10(rough)));
    const step = power * ([1, 2, 5].find((each) => each * power >= rough) || 10);
    const found = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) found.push(+(k * step).toPrecision(12));
    return found;
  };

  // Whole numbers only.
  Fernn.counts = (low, high, count) =>
    [...new Set(Fernn.ticks(low, high, count).map(Math.round))].filter((n) => n >= low && n <= high);

  // Four significant digits, no trailing zeros: 34.3, 0.00012, 1.2e+9.
  Fernn.short = function (value, digits = 4) {
    if (value === null || value === undefined || !isFinite(value)) return "∞";
    const text = String(+(+value).toPrecision(digits));
    return text.replace("-", "−");
  };

  // All digits that count: the shortest text of the number, without what computing it in binary has left at its end.
  Fernn.plain = (value) => String(+(+value).toPrecision(12)).replace("-", "−");

  // 25.6 points: a difference of two rates, which is no percentage of either.
  Fernn.percentagePoints = (rate) => {
    const points = Fernn.percent(rate).slice(0, -1);
    return `${points} ${points === "1" ? "point" : "points"}`;
  };

  // 12.5 s: a time of the axis, with its unit where the data have one.
  Fernn.moment = (time, clock) => Fernn.plain(time) + (clock && clock.unit ? ` ${clock.unit}` : "");

  // 3.2%, 5%, 0.02%: one digit after the point, more where all would be 0.
  Fernn.percent = function (rate) {
    if (rate === null || rate === undefined) return "–";
    const rounded = (100 * rate).toFixed(1).replace(/\.0$/, "");
    return (rate && rounded === "0" ? +(100 * rate).toPrecision(1) : rounded) + "%";
  };

  Fernn.counted = (n, noun) => `${n} ${noun}${n === 1 ? "" : "s"}`;
})((window.Fernn = window.Fernn || {}));
