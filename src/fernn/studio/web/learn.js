// How to learn: method and limits, and every other setting of the method in a fold-out.
(function (Studio) {
  "use strict";

  const HANDY = ["time_limit", "max_length", "length", "intervals", "direction"]; // shown outside the fold-out
  const TIME = 20; // seconds, where nothing is said

  // What was chosen, from the address: {method, test, settings: {name: value}}, only what differs from the defaults.
  const chosen = () => ({ method: "fernn", test: 0.2, ...Studio.kept("learn"), settings: { time_limit: TIME, ...(Studio.kept("learn").settings || {}) } });

  function keep(changes, settings) {
    const now = chosen();
    Studio.set({ learn: JSON.stringify({ ...now, ...changes, settings: settings ? { ...now.settings, ...settings } : now.settings }) });
  }

  Studio.learnForm = function () {
    const host = document.getElementById("learn");
    const { methods } = Studio.now.hello;
    const now = chosen();
    const method = methods.find((each) => each.name === now.method) || methods[0];
    const has = (name) => name in method.settings;
    const value = (name) => (name in now.settings ? now.settings[name] : method.settings[name]);
    const set = (name) => (found) => keep({}, { [name]: found });
    const long = has("max_length") ? "max_length" : "length";
    const names = Fernn.el("select", { name: "method", onchange: () => {
      keep({ method: names.value, settings: { time_limit: now.settings.time_limit } });
      Studio.learnForm();
      host.querySelector("select").focus();
    } }, methods.map((each) => Fernn.el("option", { value: each.name }, each.name)));
    names.value = method.name;
    const rest = Object.keys(method.settings).filter((name) => !HANDY.includes(name));
    const summary = Fernn.el("summary", null, told(method, value, long));
    const old = host.querySelector("details");
    const limits = Fernn.el("details", { open: old ? old.open : !Studio.state.run }, summary,
      Fernn.el("label.field", null, Fernn.el("span", null, "method"), names),
      Fernn.el("p.f-note", null, method.line),
      Fernn.el("div.pair", null,
        has("time_limit") && field("seconds", number(value("time_limit"), set("time_limit"), { min: 0, placeholder: "no limit" })),
        has(long) && field("length", number(value(long), set(long), { min: 1, step: 1, placeholder: "any" })),
        field("test share", percent(now.test))),
      Fernn.el("div.pair", null,
        has("intervals") && check("windows such as F[3,9]", value("intervals"), set("intervals")),
        has("direction") && check("look back from the end", value("direction") === "past", (isOn) => keep({}, { direction: isOn ? "past" : "future" }))),
      rest.length > 0 && Fernn.el("details", null, Fernn.el("summary", null, "More settings"),
        Fernn.el("div.settings", null, rest.map((name) => setting(name, method.settings[name], value(name), set(name))))));
    limits.addEventListener("change", () => {
      const { settings } = chosen();
      summary.textContent = told(method, (name) => (name in settings ? settings[name] : method.settings[name]), long);
    });
    host.replaceChildren(limits, Fernn.el("div.buttons", null,
      Fernn.el("button.main", { type: "submit", id: "start-learning" }, "Learn"),
      Fernn.el("button", { type: "button", id: "stop-learning", hidden: true, onclick: () => Studio.stop() }, "Stop")));
    host.onsubmit = (event) => {
      event.preventDefault();
      Studio.learn();
    };
    Studio.showJob();
  };

  // `fernn · 20 s · length 6 · windows`
  const told = (method, value, long) => [method.name, value("time_limit") !== null && `${value("time_limit")} s`, value(long) && `length ${value(long)}`,
    value("intervals") && "windows", value("direction") === "past" && "past"].filter(Boolean).join(" · ");

  const field = (name, input) => Fernn.el("label.field", null, Fernn.el("span", null, name), input);

  function number(value, set, more) {
    const input = Fernn.el("input", { type: "number", step: "any", value: value ?? "", ...more });
    input.addEventListener("change", () => set(input.value === "" ? null : Number(input.value)));
    return input;
  }

  function percent(share) {
    const input = Fernn.el("select", { onchange: () => keep({ test: Number(input.value) }) },
      [...new Set([0, 0.1, 0.2, 0.3, 0.5, share])].sort().map((part) => Fernn.el("option", { value: part }, Fernn.percent(part))));
    input.value = share;
    return input;
  }

  function check(name, isOn, set) {
    const input = Fernn.el("input", { type: "checkbox", onchange: () => set(input.checked) });
    input.checked = Boolean(isOn);
    return Fernn.el("label.check", null, input, Fernn.el("span", null, name));
  }

  // Numbers and switches as such; all else as text, read as JSON where it is some.
  function setting(name, usual, value, set) {
    if (typeof usual === "boolean") return check(name, value, set);
    if (typeof usual === "number") return field(name, number(value, set, {}));
    const shown = value === null ? "" : typeof value === "string" ? value : JSON.stringify(value);
    const input = Fernn.el("input", { type: "text", value: shown, placeholder: usual === null ? "none" : "", spellcheck: "false" });
    input.addEventListener("change", () => set(parsed(input.value, usual)));
    return field(name, input);
  }

  function parsed(text, usual) {
    if (text.trim() === "") return usual;
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  }

  Studio.learn = async function () {
    const { method, settings, test } = chosen();
    const usual = Studio.now.hello.methods.find((each) => each.name === method).settings;
    const given = Object.fromEntries(Object.entries(settings).filter(([name, value]) =>
      name in usual && JSON.stringify(value) !== JSON.stringify(usual[name])));
    try {
      Studio.trouble(null);
      const { run } = await Studio.post("/api/jobs", { file: Studio.state.file, reading: Studio.kept("read"), method, settings: given, test });
      const wasOfClass = Studio.state.class;
      Studio.set({ run, class: null, led: 1 }, true);
      Studio.now.rules = null;
      if (wasOfClass) await Studio.loadTraces();
      Studio.say("Learning has begun.");
      document.querySelector("#learn details").open = false;
      Studio.follow(run, true);
    } catch (problem) {
      Studio.trouble(problem);
    }
  };
})((window.Studio = window.Studio || {}));
