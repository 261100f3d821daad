// What is in the file: its card, and its problems with what can be done about each.
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
    document.getElementById("where").textContent = look.card ? look.card.name : look.name;
    Studio.readingForm(look);
    document.getElementById("learn-part").hidden = !look.data;
    document.getElementById("main").classList.toggle("unread", !look.data);
    const isReady = look.data && (look.card.classes.length === 2 || look.card.label_range);
    document.getElementById("reading-fold").open = !isReady || Studio.state.read !== null;
    return look;
  };

  const list = (channels) => channels.slice(0, 8).map((c) => c.name).join(", ") + (channels.length > 8 ? ` and ${channels.length - 8} more` : "");

  const fold = { isOpen: false };

  function card({ card, kind }) {
    const host = document.getElementById("card");
    if (!card) return host.replaceChildren();
    const span = card.shortest === card.longest ? card.shortest : `${card.shortest} to ${card.longest}`;
    const step = card.dt === null ? "" : `, every ${Fernn.plain(card.dt)}${card.time_unit ? " " + card.time_unit : ""}`;
    const facts = [
      card.distinct < card.cases && ["distinct", `${card.distinct} of ${card.cases} traces`],
      ["samples", `${span}${step}`], ["channels", list(card.channels)],
      ["label", card.label_range ? `real, ${card.label_range.map((x) => Fernn.short(x)).join(" to ")}` : card.classes.length ? null : "none"],
      card.groups && ["groups", String(card.groups)],
      card.contradictions && ["contradictory labels", `${Fernn.counted(card.contradictions, "trace")} in both classes: no rule errs less than ${Fernn.percent(card.floor)}`],
    ].filter((fact) => fact && fact[1]);
    const isTwo = card.classes.length === 2;
    const classes = card.classes.slice(0, 12).map(({ name, count }, k) => Fernn.el("span.class", null,
      isTwo && Fernn.el(`span.f-swatch.${k ? "good" : "bad"}`), ` ${name} `, Fernn.el("b", null, String(count)), isTwo && (k ? " good" : " bad")));
    const shape = `${Fernn.counted(card.cases, "trace")} × ${Fernn.counted(card.channels.length, "channel")} × ${span} samples`;
    host.replaceChildren(Fernn.el("p.name", null, card.name),
      classes.length ? Fernn.el("p.classes", null, classes) : "", needs(card, kind),
      Fernn.el("details", { open: fold.isOpen }, Fernn.el("summary", null, shape),
        Fernn.el("dl", null, facts.map(([name, value]) => [Fernn.el("dt", null, name), Fernn.el("dd", null, value)]))));
    const details = host.querySelector("details");
    details.addEventListener("toggle", () => (fold.isOpen = details.open));
  }

  // Why nothing can be learned from the file as it is read.
  function needs(card, kind) {
    const [one, ...others] = card.classes;
    const words = others.length || card.label_range ? null
      : one ? `All traces are ${one.name}, and learning needs two classes. Choose another label, or bring traces of the other class.`
      : `No label is read, and learning needs one.${kind === "other" ? "" : " Choose its column below."}`;
    return words ? Fernn.el("p.needs", null, words) : "";
  }

  function problems({ problems, data, columns }) {
    const host = document.getElementById("problems");
    const errors = problems.filter((p) => p.severity === "error").length;
    Studio.say(data ? "The file is read." : "");
    if (!problems.length) return host.replaceChildren();
    const buttons = Studio.mends(columns);
    const items = Fernn.el("ul.problems", null, problems.map((p) => Fernn.el(`li.${p.severity === "error" ? "error" : "warning"}`, null,
      Fernn.el("b", null, p.what), " ", p.fix, p.where ? Fernn.el("small", null, p.where) : "", buttons(p))));
    const title = errors ? `${Fernn.counted(errors, "problem")}: the file cannot be read as it is` : Fernn.counted(problems.length, "warning");
    host.replaceChildren(Fernn.el("details", { open: !data || problems.some((p) => ["text-column", "similar-labels", "single-case"].includes(p.kind)) }, Fernn.el("summary", null, title), items));
    if (errors) Studio.say(`${title}. ${problems[0].what}. ${problems[0].fix}`);
  }
})((window.Studio = window.Studio || {}));
