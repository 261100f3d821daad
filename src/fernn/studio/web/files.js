// Where data come from: dropped, chosen, uploaded before, or made by fernn.
(function (Studio) {
  "use strict";

  Studio.open = function (id) {
    Studio.trouble(null);
    Studio.closeDialog();
    Studio.set({ file: id, read: null, run: null, class: null, formula: null, led: null, base: null, case: null, other: null }, true);
    Studio.emit("restore");
  };

  async function taken(file) {
    const limit = Studio.now.hello && Studio.now.hello.upload_limit;
    if (limit && file.size > limit) {
      return Studio.trouble(new Error(`${file.name} has ${bytes(file.size)}, the limit for uploads is ${bytes(limit)}. ` +
        "Start the studio with the file instead: fernn studio FILE"));
    }
    try {
      Studio.say(`reading ${file.name}`);
      const bar = Fernn.el("progress", { max: 1, value: 0, "aria-label": "upload" });
      Studio.dialog(`Taking ${file.name}`, bar);
      const found = await Studio.upload(file, (share) => (bar.value = share));
      Studio.open(found.id);
    } catch (problem) {
      Studio.closeDialog();
      Studio.trouble(problem);
    }
  }

  const bytes = (n) => (n >= 1e9 ? `${(n / 1e9).toFixed(1)} GB` : n >= 1e6 ? `${(n / 1e6).toFixed(1)} MB` : n >= 1e3 ? `${Math.round(n / 1e3)} kB` : `${n} bytes`);

  const choose = () => document.getElementById("chosen-file").click();

  // The places to begin: a file, a data set, an earlier file, an earlier run.
  async function choices() {
    const files = await Studio.get("/api/files");
    const own = files.filter((file) => file.from !== "made");
    const made = files.filter((file) => file.from === "made");
    return Fernn.el("div.begin", null,
      Fernn.el("button.zone", { type: "button", onclick: choose }, Fernn.el("b", null, "Drop a recording here, or choose one"),
        Fernn.el("span", null, "CSV, Parquet, NPZ, .ts or .trace: traces with a label, such as good and bad runs. It stays on this machine.")),
      own.length > 0 && Fernn.el("div", null, Fernn.el("h3", null, "Files"), list(own, (file) => bytes(file.size))),
      made.length > 0 && Fernn.el("div", null, Fernn.el("h3", null, "Data sets at hand"), list(made, () => "")));
  }

  const list = (files, told) => Fernn.el("ul.list", null, files.map((file) =>
    Fernn.el("li", null, Fernn.el("button", { type: "button", onclick: () => Studio.open(file.id) }, file.name), " ", Fernn.el("span", null, told(file)))));

  Studio.openFile = async function () {
    try {
      Studio.dialog("Open", await choices());
    } catch (problem) {
      Studio.trouble(problem);
    }
  };

  // The page without data.
  Studio.startPage = async function () {
    const host = document.getElementById("start");
    host.hidden = false;
    document.getElementById("bench").hidden = true;
    document.getElementById("where").textContent = "";
    Studio.say("");
    try {
      const [begin, runs] = await Promise.all([choices(), Studio.runList(8)]);
      host.replaceChildren(
        Fernn.el("h2.big", null, "What rule tells good runs from bad?"),
        Fernn.el("p.lead", null, "Bring labelled traces. fernn learns short formulas that tell them apart; you see each one on the traces, change it, and take it with you."),
        begin, runs ? Fernn.el("div", null, Fernn.el("h3", null, "Earlier runs"), runs) : "");
    } catch (problem) {
      Studio.trouble(problem);
    }
  };

  addEventListener("DOMContentLoaded", () => {
    const input = document.getElementById("chosen-file"), drop = document.getElementById("drop");
    input.addEventListener("change", () => {
      if (input.files[0]) taken(input.files[0]);
      input.value = "";
    });
    let depth = 0;
    const isFile = (event) => event.dataTransfer && [...event.dataTransfer.types].includes("Files");
    addEventListener("dragenter", (event) => isFile(event) && (depth++, (drop.hidden = false)));
    addEventListener("dragleave", (event) => isFile(event) && --depth <= 0 && ((depth = 0), (drop.hidden = true)));
    addEventListener("dragover", (event) => isFile(event) && event.preventDefault());
    addEventListener("drop", (event) => {
      if (!isFile(event)) return;
      event.preventDefault();
      depth = 0;
      drop.hidden = true;
      const files = [...event.dataTransfer.files];
      if (files.length > 1) Studio.trouble(new Error(`${files.length} files were dropped, one is read at a time. Drop one.`));
      else if (files[0]) taken(files[0]);
    });
    document.getElementById("open-file").addEventListener("click", Studio.openFile);
  });
})((window.Studio = window.Studio || {}));
