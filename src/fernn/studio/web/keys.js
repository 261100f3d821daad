// Shortcuts: one key each, while no text is being written and no dialog is open.
(function (Studio) {
  "use strict";

  const focus = (id) => document.getElementById(id)?.focus();
  const tab = (k) => () => (Studio.showTab(Studio.tabNames()[k]), focus(`tab-${Studio.tabNames()[k]}`));
  const KEYS = {
    "/": () => focus("formula"), j: () => Studio.step(1), k: () => Studio.step(-1), n: () => Studio.stepWrong(1), p: () => Studio.stepWrong(-1),
    l: () => Studio.now.data && !document.getElementById("start-learning").hidden && Studio.learn(), s: () => Studio.stop(),
    1: tab(0), 2: tab(1), 3: tab(2), 4: tab(3), 5: tab(4),
    o: () => Studio.openFile(), r: () => Studio.openRuns(), d: () => Studio.turnPaper(), "?": () => Studio.help(),
  };
  const ANYWHERE = ["o", "r", "d", "?"]; // also without data

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.getElementById("dialog").open) return;
    const isText = event.target.closest?.("textarea, select, input:not([type=checkbox])");
    if (isText || !Object.hasOwn(KEYS, event.key)) return;
    if (document.getElementById("bench").hidden && !ANYWHERE.includes(event.key)) return;
    event.preventDefault();
    KEYS[event.key]();
  });

  addEventListener("DOMContentLoaded", () => {
    document.getElementById("paper").addEventListener("click", Studio.turnPaper);
    document.getElementById("help").addEventListener("click", Studio.help);
    document.getElementById("skip").addEventListener("click", (event) => {
      event.preventDefault();
      const bench = document.getElementById("bench");
      if (bench.hidden) document.querySelector("#start button")?.focus();
      else focus("formula");
    });
  });
})((window.Studio = window.Studio || {}));
