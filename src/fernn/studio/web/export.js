// The rule for elsewhere: seen, copied, downloaded.
(function (Studio) {
  "use strict";

  let to = "text", file = null;

  const written = Studio.latest(
    (host, formula, format) => Studio.post("/api/export", { formula, to: format, data: Studio.now.data }),
    (found, isLast, host) => {
      file = found;
      host.replaceChildren(Fernn.el("pre.export", { tabindex: "0", "aria-label": found.name }, found.text));
    },
    (problem, host) => ((file = null), Studio.failedIn(host)(problem)),
  );

  Studio.tab("export", "Export", (host) => {
    let place = host.querySelector(".written");
    if (!place) {
      place = Fernn.el("div.written");
      const told = Fernn.el("span.f-note", { role: "status" });
      const { targets } = Studio.now.hello;
      const buttons = targets.map(({ name, title }) => Fernn.el("button", { type: "button", "aria-pressed": String(name === to), onclick: () => {
        to = name;
        buttons.forEach((each, k) => each.setAttribute("aria-pressed", String(targets[k].name === to)));
        written(place, Studio.now.reading.formula, to);
      } }, title));
      host.replaceChildren(Fernn.el("div.bar", null, Fernn.el("div.f-choice", { role: "group", "aria-label": "format" }, buttons),
        Fernn.el("button", { type: "button", onclick: () => copy(told) }, "Copy"), Fernn.el("button", { type: "button", onclick: download }, "Download"), told), place);
    }
    written(place, Studio.now.reading.formula, to);
  });

  async function copy(told) {
    if (!file) return;
    try {
      await navigator.clipboard.writeText(file.text);
      told.textContent = "Copied.";
    } catch {
      const text = document.querySelector("#tabs pre.export");
      if (text) getSelection().selectAllChildren(text);
      told.textContent = "The browser does not allow it: the text is selected, press Ctrl-C.";
    }
  }

  function download() {
    if (!file) return;
    const address = URL.createObjectURL(new Blob([file.text], { type: "text/plain" }));
    Fernn.el("a", { href: address, download: file.name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  }
})((window.Studio = window.Studio || {}));
