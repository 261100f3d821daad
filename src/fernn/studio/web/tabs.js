// What else there is to see of a rule, one at a time. A tab asks for its content when it is looked at.
(function (Studio) {
  "use strict";

  const tabs = []; // {name, title, show(host)}: in the order in which they stand
  let buttons = new Map(), panel = null;

  Studio.tab = (name, title, show) => tabs.push({ name, title, show });
  Studio.tabNames = () => tabs.map((tab) => tab.name);

  Studio.tabsForm = function () {
    panel = Fernn.el("div", { role: "tabpanel", id: "tab-panel", tabindex: "-1" });
    buttons = new Map(tabs.map(({ name, title }) => [name, Fernn.el("button", {
      type: "button", role: "tab", id: `tab-${name}`, "aria-controls": "tab-panel", onclick: () => Studio.showTab(name),
    }, title)]));
    const bar = Fernn.el("div", { role: "tablist", "aria-label": "more about the rule" }, ...buttons.values());
    bar.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const names = Studio.tabNames(), to = (names.indexOf(current()) + step + names.length) % names.length;
      Studio.showTab(names[to]);
      buttons.get(names[to]).focus();
    });
    document.getElementById("tabs").replaceChildren(bar, panel);
    Studio.showTab(current(), true);
  };

  const current = () => (tabs.some((tab) => tab.name === Studio.state.tab) ? Studio.state.tab : tabs[0].name);

  Studio.showTab = function (name, isFirst) {
    if (!isFirst) Studio.set({ tab: name });
    buttons.forEach((button, each) => {
      button.setAttribute("aria-selected", String(each === name));
      button.tabIndex = each === name ? 0 : -1;
    });
    panel.setAttribute("aria-labelledby", `tab-${name}`);
    const host = Fernn.el("div");
    panel.replaceChildren(host);
    refresh(host);
  };

  function refresh(host) {
    const tab = tabs.find((each) => each.name === current());
    if (!Studio.now.data || !Studio.now.reading) return host.replaceChildren(Fernn.el("p.f-note", null, "Choose or write a formula first."));
    tab.show(host);
  }

  const again = () => panel && panel.firstChild && refresh(panel.firstChild);
  Studio.on("reading", again);
  Studio.on("case", () => current() === "trace" && again());
  Studio.on("cleared", again);

  // Words of trouble in the place of what was asked for.
  Studio.failedIn = (host) => (problem) => {
    if (!problem.isGone) host.replaceChildren(Fernn.el("p.f-note.f-bad", { role: "alert" }, problem.message));
  };

  Studio.ask = (what, body) => Studio.post(`/api/data/${encodeURIComponent(Studio.now.data)}/${what}`, { ...body, ...Studio.whose() });
})((window.Studio = window.Studio || {}));
