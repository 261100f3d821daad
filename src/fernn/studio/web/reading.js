// How the file is read: its columns and what is in them. Offered also where it cannot be read yet; every change reads it again.
(function (Studio) {
  "use strict";

  const AUTO = "automatic";
  const DELIMITERS = [["", AUTO], [",", "comma ,"], [";", "semicolon ;"], ["\t", "tab"], ["|", "bar |"], [" ", "space"], [":", "colon :"]];
  const ENCODINGS = [["utf-8", "UTF-8"], ["latin-1", "Latin-1"], ["cp1252", "Windows 1252"], ["utf-16", "UTF-16"]];

  // Controls that a problem speaks of are marked.
  Studio.readingForm = function ({ columns, reading, card, kind, problems }) {
    const host = document.getElementById("reading"), fold = document.getElementById("reading-fold");
    const isTable = kind === "text" || kind === "parquet";
    const isPlain = card && !isTable && columns.every((name) => card.channels.some((c) => c.name === name)); // made data, of two classes: nothing to choose
    fold.hidden = isPlain && card.classes.length < 3 && reading.good === null;
    const column = (title, key) => select(title, [["", AUTO], ...named(columns, reading[key])], reading[key] || "", (value) => Studio.reread({ [key]: value || undefined }));
    const label = select("label", [["", "none"], ...named(columns, reading.label)], reading.label || "", (value) => Studio.reread({ label: value || null, good: undefined }));
    const more = [
      select("if values are missing", [["missing", "keep as missing"], ["error", "stop"], ["hold", "hold the last"], ["interpolate", "interpolate"], ["drop_case", "drop the trace"]], reading.nonfinite, (value) => Studio.reread({ nonfinite: value })),
      select("if rows cannot be read", [["error", "stop"], ["skip", "skip them"]], reading.bad_rows, (value) => Studio.reread({ bad_rows: value }))];
    host.replaceChildren(
      Fernn.el("div.pair", null, label, good(reading, card, problems), isTable && column("case column", "case"), isTable && column("time column", "time")),
      channels(columns, reading, card), Fernn.el("div.pair", null, more), isTable ? written(reading, kind, !card) : "");
    const spoken = Studio.flagged(problems);
    host.querySelectorAll("select, input[type=text]").forEach((each) => each.closest(".field").classList.toggle("marked", spoken.has(each.name)));
  };

  // How rows and numbers are written; shut where nobody needs it.
  function written(reading, kind, isOpen) {
    const rows = [select("layout", [["auto", AUTO], ["tidy", "a row a sample"], ["wide", "a row a trace"]], reading.layout, (value) => Studio.reread({ layout: value }))];
    if (kind === "text") {
      const header = reading.header === null ? "" : String(reading.header);
      rows.push(
        select("decimal", [[".", "point 1.5"], [",", "comma 1,5"]], reading.decimal, (value) => Studio.reread({ decimal: value })),
        select("first row", [["", AUTO], ["true", "names"], ["false", "values"]], header, (value) => Studio.reread({ header: value ? value === "true" : undefined })),
        select("encoding", named(ENCODINGS, reading.encoding), reading.encoding, (value) => Studio.reread({ encoding: value })),
        delimiter(reading.delimiter));
    }
    const isUsed = reading.layout !== "auto" || reading.decimal !== "." || reading.delimiter !== null || reading.header !== null || reading.encoding !== "utf-8";
    return Fernn.el("details", { open: isOpen || isUsed }, Fernn.el("summary", null, "How the file is written"), Fernn.el("div.pair", null, rows));
  }

  // One of the usual ones, or any other letter.
  function delimiter(value) {
    const other = Fernn.el("input", { type: "text", name: "other delimiter", maxlength: 1, "aria-label": "other delimiter", placeholder: "other" });
    const isOther = value !== null && !DELIMITERS.some(([letter]) => letter === value);
    other.value = isOther ? value : "";
    other.addEventListener("change", () => Studio.reread({ delimiter: other.value || undefined }));
    const field = select("delimiter", isOther ? [...DELIMITERS, [value, value]] : DELIMITERS, value || "", (chosen) => Studio.reread({ delimiter: chosen || undefined }));
    field.append(other);
    return field;
  }

  function good(reading, card, problems) {
    const asked = problems.find((each) => each.kind === "good" && each.choices.length > 1); // the file does not say which
    if (!card && asked) return select("good is", [["", "choose one"], ...named(asked.choices, null)], "", (value) => Studio.reread({ good: value || undefined }));
    const classes = card ? card.classes.map((each) => each.name) : [];
    if (classes.length < 2) return null;
    const isOpen = classes.length > 2 && reading.good === null; // which of many is good is for a person to say
    const isOne = reading.good !== null && classes.includes(`not ${reading.good}`); // one against the others
    const offered = isOne ? [["", "choose another"], [String(reading.good), String(reading.good)]] : classes.map((name) => [name, name]);
    const now = isOpen ? "" : reading.good === null ? classes[classes.length - 1] : String(reading.good);
    return select("good is", isOpen ? [["", "choose one"], ...offered] : offered, now, (value) => Studio.reread({ good: value || undefined }));
  }

  function channels(columns, reading, card) {
    const used = card ? card.channels.map((c) => c.name) : [], asked = reading.channels || null;
    const others = columns.filter((name) => ![reading.label, reading.case, reading.time].includes(name));
    if (!others.length) return "";
    const boxes = others.map((name) => Fernn.el("label.check", null, box((asked || used).includes(name), name), Fernn.el("span", null, name)));
    const made = Fernn.el("fieldset", null, Fernn.el("legend", null, card || asked ? "channels" : "channels (none: all that fit)"), Fernn.el("div.checks", null, boxes));
    made.addEventListener("change", () => {
      const chosen = [...made.querySelectorAll("input:checked")].map((each) => each.dataset.name);
      if (chosen.length) Studio.reread({ channels: chosen });
      else Studio.trouble(new Error("One channel at least is needed."));
    });
    return made;
  }

  const box = (isOn, name) => {
    const made = Fernn.el("input", { type: "checkbox" });
    made.checked = isOn;
    made.dataset.name = name;
    return made;
  };

  // Choices of [value, text] or of names, and the one that is taken, even where it is none of them.
  function named(choices, taken) {
    const pairs = choices.map((each) => (Array.isArray(each) ? each : [each, each]));
    return !taken || pairs.some(([value]) => value === taken) ? pairs : [[taken, taken], ...pairs];
  }

  function select(name, options, value, changed) {
    const made = Fernn.el("select", { name, onchange: () => changed(made.value) }, options.map(([key, text]) => Fernn.el("option", { value: key }, text)));
    made.value = value;
    return Fernn.el("label.field", null, Fernn.el("span", null, name), made);
  }

  // Reads the file again with these options in the place of the old ones; undefined is the usual one.
  Studio.reread = function (options) {
    const now = { ...Studio.kept("read"), ...options };
    for (const key of Object.keys(now)) if (now[key] === undefined) delete now[key];
    Studio.set({ read: JSON.stringify(now), run: null, class: null, led: null, case: null }, true);
    Studio.emit("restore", document.activeElement && document.activeElement.name);
  };
})((window.Studio = window.Studio || {}));
