// What is in the file: its card, its problems, and which columns are label and channels.
(function (Studio) {
  "use strict";

  // How the server names data: a file, ~, and what was asked for beyond the usual. Runs name theirs that way.
  Studio.readingOf = function (word) {
    try {
      const packed = word.split("~")[1].replace(/-/g, "+").replace(/_/g, "/");
      const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
      return packed ? new TextDecoder().decode(bytes) : null;
    } catch {
      return null;
    }
  };

  Studio.look = async function () {
    const look = await Studio.post(`/api/files/${encodeURIComponent(Studio.state.file)}/look`, Studio.kept("read"));
    Studio.now.look = look;
    Studio.now.data = look.data;
    card(look);
    problems(look);
    form(look);
    document.getElementById("learn-part").hidden = !look.data;
    document.getElementById("main").classList.toggle("unread", !look.data);
    document.getElementById("reading-fold").open = !look.data || (look.card.classes.length > 2) || Studio.state.read !== null;
    return look;
  };

  const list = (channels) => channels.slice(0, 8).map((c) => c.name).join(", ") + (channels.length > 8 ? ` and ${channels.length - 8} more` : "");

  const fold = { isOpen: false };

  function card({ card }) {
    const host = document.getElementById("card");
    if (!card) return host.replaceChildren();
    const span = card.shortest === card.longest ? card.shortest : `${card.shortest} to ${card.longest}`;
    const step = card.dt === null ? "" : `, every ${Fernn.short(card.dt)}${card.time_unit ? " " + card.time_unit : ""}`;
    const facts = [
      card.distinct < card.cases && ["distinct", `${card.distinct} of ${card.cases} traces`],
      ["samples", `${span}${step}`], ["channels", list(card.channels)],
      ["label", card.label_range ? `real, ${card.label_range.map((x) => Fernn.short(x)).join(" to ")}` : card.classes.length ? null : "none"],
      card.groups && ["groups", String(card.groups)],
      card.contradictions && ["forced", `${Fernn.counted(card.contradictions, "trace")} in both classes: no rule errs less than ${Fernn.percent(card.floor)}`],
    ].filter((fact) => fact && fact[1]);
    const isTwo = card.classes.length === 2;
    const classes = card.classes.slice(0, 12).map(({ name, count }, k) => Fernn.el("span.class", null,
      isTwo && Fernn.el(`span.f-swatch.${k ? "good" : "bad"}`), ` ${name} `, Fernn.el("b", null, String(count)), isTwo && (k ? " good" : " bad")));
    const shape = `${Fernn.counted(card.cases, "trace")} × ${Fernn.counted(card.channels.length, "channel")} × ${span} samples`;
    host.replaceChildren(Fernn.el("p.name", null, card.name),
      classes.length ? Fernn.el("p.classes", null, classes) : "",
      Fernn.el("details", { open: fold.isOpen }, Fernn.el("summary", null, shape),
        Fernn.el("dl", null, facts.map(([name, value]) => [Fernn.el("dt", null, name), Fernn.el("dd", null, value)]))));
    const details = host.querySelector("details");
    details.addEventListener("toggle", () => (fold.isOpen = details.open));
    document.getElementById("where").textContent = card.name;
  }

  function problems({ problems, data }) {
    const host = document.getElementById("problems");
    const errors = problems.filter((p) => p.severity === "error").length;
    if (!problems.length) return host.replaceChildren();
    const items = Fernn.el("ul.problems", null, problems.map((p) => Fernn.el(`li.${p.severity === "error" ? "error" : "warning"}`, null,
      Fernn.el("b", null, p.what), " ", p.fix, p.where ? Fernn.el("small", null, p.where) : "")));
    const title = errors ? `${Fernn.counted(errors, "problem")}: the file cannot be read as it is` : Fernn.counted(problems.length, "warning");
    host.replaceChildren(Fernn.el("details", { open: !data }, Fernn.el("summary", null, title), items));
    if (errors) Studio.say(`${title}. ${problems[0].what}. ${problems[0].fix}`);
  }

  // The choices; every change looks at the file again.
  function form({ columns, reading, card }) {
    const host = document.getElementById("reading");
    const fold = document.getElementById("reading-fold");
    const isPlain = card && columns.every((name) => card.channels.some((c) => c.name === name)); // made data, of two classes: nothing to choose
    fold.hidden = isPlain && card.classes.length < 3 && reading.good === null;
    const names = columns.includes(reading.label) || !reading.label ? columns : [reading.label, ...columns];
    const label = select("label", [["", "none"], ...names.map((name) => [name, name])], reading.label || "", (value) => change({ label: value || null, good: undefined }));
    const classes = card ? card.classes.map((each) => each.name) : [];
    const isOpen = classes.length > 2 && reading.good === null; // which of many is good is for a person to say
    const isOne = reading.good !== null && classes.includes(`not ${reading.good}`); // one against the others
    const offered = isOne ? [["", "choose another"], [String(reading.good), String(reading.good)]] : classes.map((name) => [name, name]);
    const good = classes.length > 1 && select("good is", isOpen ? [["", "choose one"], ...offered] : offered,
      isOpen ? "" : reading.good === null ? classes[classes.length - 1] : String(reading.good), (value) => change({ good: value || undefined }));
    const used = card ? card.channels.map((c) => c.name) : reading.channels || [];
    const others = columns.filter((name) => name !== reading.label);
    const asked = reading.channels || null;
    const boxes = others.map((name) => Fernn.el("label.check", null, box(asked ? asked.includes(name) : used.includes(name), name), Fernn.el("span", null, name)));
    const channels = Fernn.el("fieldset", null, Fernn.el("legend", null, card || asked ? "channels" : "channels (none: all that fit)"), Fernn.el("div.checks", null, boxes));
    channels.addEventListener("change", () => {
      const chosen = [...channels.querySelectorAll("input:checked")].map((each) => each.dataset.name);
      if (chosen.length) change({ channels: chosen });
      else Studio.trouble(new Error("One channel at least is needed."));
    });
    const more = Fernn.el("div.pair", null,
      select("missing values", [["error", "are an error"], ["hold", "hold the last"], ["interpolate", "interpolate"], ["drop_case", "drop the trace"]], reading.nonfinite, (value) => change({ nonfinite: value })),
      select("bad rows", [["error", "are an error"], ["skip", "skip them"]], reading.bad_rows, (value) => change({ bad_rows: value })),
      select("layout", [["auto", "as it looks"], ["tidy", "a row a sample"], ["wide", "a row a trace"]], reading.layout, (value) => change({ layout: value })));
    host.replaceChildren(Fernn.el("div.pair", null, label, good), others.length ? channels : "", more);
  }

  const box = (isOn, name) => {
    const made = Fernn.el("input", { type: "checkbox" });
    made.checked = isOn;
    made.dataset.name = name;
    return made;
  };

  function select(name, options, value, changed) {
    const made = Fernn.el("select", { name, onchange: () => changed(made.value) }, options.map(([key, text]) => Fernn.el("option", { value: key }, text)));
    made.value = value;
    return Fernn.el("label.field", null, Fernn.el("span", null, name), made);
  }

  function change(options) {
    const now = { ...Studio.kept("read"), ...options };
    for (const key of Object.keys(now)) if (now[key] === undefined) delete now[key];
    Studio.set({ read: JSON.stringify(now), run: null, case: null }, true);
    Studio.emit("restore", document.activeElement && document.activeElement.name);
  }
})((window.Studio = window.Studio || {}));
