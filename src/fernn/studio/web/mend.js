// What can be done about a problem of a file, as buttons beside it: those that apply it, and those that lead to the control.
(function (Studio) {
  "use strict";

  // The flags that a problem speaks of, and the controls that stand for them here.
  const CONTROLS = { "label": "label", "case-column": "case column", "time": "time column", "delimiter": "delimiter", "decimal": "decimal", "layout": "layout",
    "encoding": "encoding", "no-header": "first row", "header": "first row", "nonfinite": "missing values", "bad-rows": "bad rows", "good": "good is" };
  const MOST = 12; // names that are offered as buttons
  const LEADS = ["label", "case-column", "time", "delimiter", "layout", "encoding", "no-header"]; // a person has to choose

  const flags = ({ fix }) => [...fix.matchAll(/--([a-z-]+)/g)].map((found) => found[1]).filter((flag) => flag in CONTROLS);

  // The names of the controls that errors speak of.
  Studio.flagged = (problems) => new Set(problems.filter((p) => p.severity === "error").flatMap(flags).map((flag) => CONTROLS[flag]));

  // Gives for each problem its buttons; those that an earlier problem has are not offered again.
  Studio.mends = function (columns) {
    const offered = new Set();
    return (problem) => {
      const found = problem.severity === "error" ? [...applied(problem, columns), ...led(problem)] : applied(problem, columns);
      const fresh = found.filter(([text]) => !offered.has(text));
      fresh.forEach(([text]) => offered.add(text));
      return fresh.length > 0 && Fernn.el("span.mends", null, fresh.map(([text, does]) => Fernn.el("button", { type: "button", onclick: does }, text)));
    };
  };

  function applied({ kind, what, fix, where, choices }, columns) {
    const on = (flag) => fix.includes(`--${flag}`);
    const read = (text, options) => [text, () => Studio.reread(options)];
    const words = kind === "text-column" && columns.find((name) => where && where.includes(`column '${name}'`));
    const guess = kind === "no-label-column" && columns.find((name) => what.includes(`(did you mean '${name}'?)`));
    const encoding = /--encoding ([\w-]+) if/.exec(fix);
    const goods = kind === "good" ? choices.slice(0, MOST).map((name) => read(`${name || "(no name)"} is good`, { good: name })) : [];
    return [
      ...goods,
      kind === "decimal-comma" && read("Read with decimal commas", { decimal: "," }),
      kind === "decimal-point" && read("Read with decimal points", { decimal: undefined }),
      kind === "wrong-delimiter" && read("Let the file say its delimiter", { delimiter: undefined }),
      (words || guess) && read(`Take ${words || guess} for the label`, { label: words || guess }),
      kind === "no-label-column" && read("Read without labels", { label: null }),
      encoding && read(`Read as ${encoding[1]}`, { encoding: encoding[1] }),
      on("nonfinite missing") && read("Keep as missing", { nonfinite: "missing" }),
      on("nonfinite hold") && read("Hold the last value", { nonfinite: "hold" }),
      on("nonfinite hold") && read("Interpolate", { nonfinite: "interpolate" }),
      (on("nonfinite hold") || on("nonfinite drop_case")) && read("Drop these traces", { nonfinite: "drop_case" }),
      on("bad-rows skip") && read("Skip such rows", { bad_rows: "skip" }),
    ].filter(Boolean);
  }

  const led = (problem) => flags(problem).filter((flag) => LEADS.includes(flag)).map((flag) => [`Choose: ${CONTROLS[flag]}`, () => go(CONTROLS[flag])]);

  function go(name) {
    const control = document.querySelector(`#reading [name="${name}"]`);
    if (!control) return;
    for (let fold = control.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    control.scrollIntoView({ block: "center" });
    control.focus();
  }
})((window.Studio = window.Studio || {}));
