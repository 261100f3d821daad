// The points of a traces payload: where each drawn case lies in it, and which times and values they are.
(function (Fernn) {
  "use strict";

  Fernn.points = function (traces) {
    const packed = unpacked(traces.values);
    const { step, samples, from_end: fromEnd } = traces.clock;
    const most = 2 * traces.bins;
    const width = traces.channels.length;
    const length = (index) => (typeof traces.lengths === "number" ? traces.lengths : traces.lengths[index]);
    const count = (index) => Math.min(length(index), length(index) > most ? most : Infinity);
    const offsets = new Map();
    let next = 0;
    for (const index of traces.drawn) {
      offsets.set(index, next);
      next += count(index) * width;
    }
    const place = (index, sample) => (sample + (fromEnd ? 1 - length(index) : 0)) * step;
    const sampleOf = (index, k) => (length(index) > most ? ((k + 0.5) / most) * (length(index) - 1) : k);

    return {
      count,
      length,
      start: fromEnd ? (1 - samples) * step : 0,
      end: fromEnd ? 0 : (samples - 1) * step,
      isDrawn: (index) => offsets.has(index),
      // The time of a sample of a case; of the longest case where none is given.
      time: place,
      longest: (sample) => (sample + (fromEnd ? 1 - samples : 0)) * step,
      timeOf: (index, k) => place(index, sampleOf(index, k)),
      // Which point is nearest to a sample, and which lies at a time (a fraction between two).
      near: (index, sample) =>
        length(index) > most ? Math.min(most - 1, Math.max(0, Math.round((sample / (length(index) - 1)) * most - 0.5))) : sample,
      at: (index, time) => {
        const sample = time / step - (fromEnd ? 1 - length(index) : 0);
        return length(index) > most ? (sample / (length(index) - 1)) * most - 0.5 : sample;
      },
      value: (index, channel, k) => {
        const { low, high } = traces.channels[channel];
        return low + (packed[offsets.get(index) + channel * count(index) + k] / 65535) * (high - low);
      },
      // The points of a case as they are packed: all their values of a channel, from 0 for its lowest to 65535.
      packed: (index, channel) => {
        const n = count(index), from = offsets.get(index) + channel * n;
        return packed.subarray(from, from + n);
      },
    };
  };

  function unpacked(text) {
    const bytes = atob(text);
    const found = new Uint16Array(bytes.length >> 1);
    for (let i = 0; i < found.length; i++) found[i] = bytes.charCodeAt(2 * i) | (bytes.charCodeAt(2 * i + 1) << 8);
    return found;
  }
})((window.Fernn = window.Fernn || {}));
