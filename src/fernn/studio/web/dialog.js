// The one dialog: earlier runs, files, shortcuts.
(function (Studio) {
  "use strict";

  Studio.dialog = function (title, ...content) {
    const box = document.getElementById("dialog");
    box.replaceChildren(
      Fernn.el("div.head", null, Fernn.el("h2", { id: "dialog-title" }, title),
        Fernn.el("button", { type: "button", "aria-label": "close", onclick: () => box.close() }, "✕")),
      ...content);
    if (!box.open) box.showModal();
    return box;
  };

  Studio.closeDialog = () => document.getElementById("dialog").close();

  addEventListener("DOMContentLoaded", () => {
    const box = document.getElementById("dialog");
    box.addEventListener("click", (event) => event.target === box && box.close());
  });

  const SHORTCUTS = [
    ["/", "edit the formula"], ["j, k", "next and previous formula of the front"], ["n, p", "next and previous trace that is wrong"],
    ["l", "learn"], ["s", "stop learning, keep the best"], ["1 to 5", "one trace, sensitivity, compare, rivals, export"],
    ["o", "open a file"], ["r", "earlier runs"], ["d", "dark or light"], ["?", "this list"],
  ];
  const WITHIN = [
    ["on the front", "arrow keys choose a formula"], ["on a threshold", "arrow keys move it, Shift or Page keys by more"],
    ["on the traces", "up and down choose a trace, + and − zoom, left and right move, Escape shows all"],
  ];

  Studio.help = () => Studio.dialog("Keyboard", list(SHORTCUTS, "kbd"), Fernn.el("h3", null, "Where the focus is"), list(WITHIN, "span"));

  const list = (rows, tag) => Fernn.el("dl.keys", null, rows.map(([key, does]) =>
    [Fernn.el("dt", null, Fernn.el(tag, null, key)), Fernn.el("dd", null, does)]));
})((window.Studio = window.Studio || {}));
