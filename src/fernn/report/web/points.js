// The points of a traces payload: where each drawn case lies in it, and which times and values they are. Of a long trace there
// are the least and the greatest value of each bin, at the samples where they are; `refine` adds a part with more of them. Channels
// have the numbers that they have in the payload; behind them come the expressions of a rule, which `attach` brings.
(function (Fernn) {
  "use strict";

  const NONE = { n: 0, values: new Uint16Array(0), sample: (k) => k };

  Fernn.points = function (traces) {
    const { step, samples, from_end: fromEnd } = traces.clock;
    const length = (index) => (typeof traces.lengths === "number" ? traces.lengths : traces.lengths[index]);
    const origin = (index) => (fromEnd ? 1 - length(index) : 0); // of a case, in samples from the zero of the axis
    const zero = fromEnd ? 1 - samples : 0; // of the longest one
    const whole = unpacked(traces, traces.channels.length, traces.drawn.map((index) => [index, 0, length(index)]));
    let part = null, now = whole;
    let added = { sheet: null, channels: [], slots: [], whole: null, part: null, now: null };

    const known = traces.channels.length;
    const series = (index, channel) => (channel < known ? now.cases.get(index)?.[channel] : added.now?.cases.get(index)?.[added.slots[channel - known]]) || NONE;
    const channel = (k) => (k < known ? traces.channels[k] : added.channels[k - known]);
    const cut = (given) => ({ ...unpacked(given, given.width, given.drawn.map((index, i) => [index, given.starts[i], given.lengths[i]])), first: given.first, last: given.last });

    return {
      length,
      start: zero * step,
      end: fromEnd ? 0 : (samples - 1) * step,
      isDrawn: (index) => whole.cases.has(index),
      // The time of a sample of a case; of the longest case where none is given.
      time: (index, sample) => (sample + origin(index)) * step,
      longest: (sample) => (sample + zero) * step,
      // The sample of the longest case at a time, and of this one; with a fraction.
      sampleAt: (time) => time / step - zero,
      sample: (index, time) => time / step - origin(index),
      // The points of a case that there are for this view: n of them, values from 0 for the lowest of the channel to 65535,
      // and sample(k), which of the case each is.
      series,
      // Name, least and greatest value of a channel or an expression; `endless`: these stand for what is infinite.
      channel,
      // Where most traces lie.
      bands: (k) => (k < known ? traces.bands[k] : added.sheet.bands[added.slots[k - known]]) || {},
      level: (k, packed) => {
        const { low, high } = channel(k);
        return low + (packed / 65535) * (high - low);
      },
      // As `level`, in words.
      said: (k, packed) => {
        const { low, high, endless = [] } = channel(k);
        if ((packed === 65535 && endless[1]) || (packed === 0 && endless[0])) return packed ? "∞" : "−∞";
        return Fernn.short(low + (packed / 65535) * (high - low));
      },
      // Takes the expressions of a rule from the sheet that has them; gives the numbers of those that it has.
      attach: (channels, sheet) => {
        if (sheet !== added.sheet || channels.some((each, k) => each.name !== added.channels[k]?.name) || channels.length !== added.channels.length) {
          const slots = channels.map((each) => (sheet ? sheet.channels.findIndex((one) => one.name === each.name) : -1));
          const drawn = sheet && cut({ ...sheet, width: sheet.channels.length });
          added = { sheet, channels, slots, whole: drawn, part: null, now: drawn };
          part = null;
        }
        return added.slots.flatMap((slot, k) => (slot < 0 ? [] : [known + k]));
      },
      // The last point at or before a sample, -1 where there is none.
      before: (index, channel, sample) => before(series(index, channel), sample),
      // Points from the last one before a time to the first one after another.
      within: (index, channel, [from, to]) => {
        const each = series(index, channel);
        const first = Math.max(0, before(each, from / step - origin(index)));
        let last = Math.max(first, before(each, to / step - origin(index)));
        if (last < each.n - 1) last++;
        return [first, last];
      },
      refine: (given) => {
        part = cut({ ...given, width: known });
        added.part = given.sheet && added.sheet ? cut({ ...given.sheet, width: added.sheet.channels.length }) : null;
      },
      // Takes the finer part for a span that lies in it.
      look: (span) => {
        now = part && isWithin(part, span) ? part : whole;
        added.now = added.part && isWithin(added.part, span) ? added.part : added.whole;
      },
      // Whether there is more to be had of a span: samples are left out, and it is not the part that was asked for.
      wants: (span) => {
        const best = part && isWithin(part, span) ? part : whole;
        const wide = best === whole ? samples : part.last - part.first + 1;
        return best.every > 1 && (span[1] - span[0]) / step + 1 < 0.5 * wide;
      },
      // One of how many samples is drawn, about, in this view.
      every: () => now.every,
    };

    function isWithin({ first, last }, span) {
      const [from, to] = span.map((time) => time / step - zero);
      return from >= first - 1e-6 && (to <= last + 1e-6);
    }
  };

  // By case and channel. `drawn` has [case, its first sample here, how many].
  function unpacked({ values, at, bins }, channels, drawn) {
    const numbers = new Uint16Array(bytes(values).buffer), places = at && placed(at);
    const cases = new Map();
    let next = 0, place = 0, longest = 0;
    for (const [index, start, length] of drawn) {
      const isThin = length > 2 * bins, n = isThin ? 2 * bins : length;
      if (isThin) longest = Math.max(longest, length);
      const rows = [];
      for (let channel = 0; channel < channels; channel++) {
        const row = { n, values: numbers.subarray(next, next + n), sample: (k) => start + k };
        if (isThin) {
          const samples = new Float64Array(n);
          for (let k = 0; k < n; k++) samples[k] = start + Math.floor(((k >> 1) * length) / bins) + places[place + k];
          row.sample = (k) => samples[k];
          row.samples = samples;
          place += n;
        }
        row.start = start;
        rows.push(row);
        next += n;
      }
      cases.set(index, rows);
    }
    return { cases, every: longest ? longest / bins : 1 };
  }

  function before(each, sample) {
    if (!each.n) return -1;
    if (!each.samples) return Math.max(-1, Math.min(each.n - 1, Math.floor(sample - each.start)));
    let low = -1, high = each.n - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (each.samples[middle] <= sample) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  const placed = ({ bytes: wide, places }) => {
    const { buffer } = bytes(places);
    return wide === 1 ? new Uint8Array(buffer) : wide === 2 ? new Uint16Array(buffer) : new Uint32Array(buffer);
  };

  function bytes(text) {
    const letters = atob(text), found = new Uint8Array(letters.length);
    for (let i = 0; i < letters.length; i++) found[i] = letters.charCodeAt(i);
    return found;
  }
})((window.Fernn = window.Fernn || {}));
