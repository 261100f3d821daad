// What this tab shows, in the address: file, read (how), run, class (whose rule is looked at, of a run with several), formula, led (the formula is the one that the run picks, whichever that comes to be), base (what it was before it was changed), case, other (a formula to compare), tab, learn (settings).
// A reload, a copied address and the way back all lead here. Parts of the page listen and tell with on and emit.
(function (Studio) {
  "use strict";

  const KEYS = ["file", "read", "run", "class", "formula", "led", "base", "case", "other", "tab", "learn"];
  const listeners = {};

  Studio.on = (what, heard) => (listeners[what] = listeners[what] || []).push(heard);
  Studio.emit = (what, ...more) => (listeners[what] || []).forEach((heard) => heard(...more));

  Studio.state = read();

  // What is known of it now, not kept in the address: look, data (a word of the server), traces, front, picked, reading ...
  Studio.now = { hello: null, look: null, data: null, traces: null, front: [], picked: null, reading: null, job: null };

  function read() {
    const given = new URLSearchParams(location.hash.slice(1));
    return Object.fromEntries(KEYS.map((key) => [key, given.get(key)]));
  }

  // Changes some of it. Small steps take the place of the last one; `isStep` makes one that the back button undoes.
  Studio.set = function (changes, isStep = false) {
    Object.assign(Studio.state, changes);
    const kept = KEYS.filter((key) => Studio.state[key] !== null && Studio.state[key] !== undefined && Studio.state[key] !== "");
    const words = new URLSearchParams(kept.map((key) => [key, String(Studio.state[key])]));
    const address = kept.length ? `#${words}` : location.pathname;
    if (isStep) history.pushState(null, "", address);
    else history.replaceState(null, "", address);
  };

  Studio.kept = function (key) {
    try {
      return JSON.parse(Studio.state[key] || "{}");
    } catch {
      return {};
    }
  };

  addEventListener("popstate", () => {
    Object.assign(Studio.state, read());
    Studio.emit("restore");
  });

  // A sentence for those who do not see the page.
  Studio.say = (words) => (document.getElementById("spoken").textContent = words);

  // Something that went wrong, until it is put away or something goes right.
  Studio.trouble = function (problem) {
    const box = document.getElementById("trouble");
    box.hidden = !problem;
    if (!problem || problem.isGone) return void (box.hidden = true);
    box.replaceChildren(Fernn.el("span", null, problem.message || String(problem)),
      Fernn.el("button", { type: "button", "aria-label": "put away", onclick: () => (box.hidden = true) }, "✕"));
  };
})((window.Studio = window.Studio || {}));
