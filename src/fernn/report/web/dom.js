// Making elements. Names are data and may be hostile: everything is set as text, nothing is ever read as HTML.
(function (Fernn) {
  "use strict";

  // el("button.small", {onclick: f, "aria-label": "x"}, "text", child, ...)
  Fernn.el = function (what, props, ...children) {
    const [tag, ...classes] = what.split(".");
    return filled(document.createElement(tag), classes, props, children);
  };

  Fernn.svg = function (what, props, ...children) {
    const [tag, ...classes] = what.split(".");
    return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), classes, props, children);
  };

  function filled(node, classes, props, children) {
    if (classes.length) node.setAttribute("class", classes.join(" "));
    for (const [name, value] of Object.entries(props || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else node.setAttribute(name, value === true ? "" : value);
    }
    for (const child of children.flat(Infinity)) {
      if (child !== null && child !== undefined && child !== false) node.append(child);
    }
    return node;
  }

  // Calls back when the page turns dark or light, as long as `host` is on the page.
  Fernn.onTheme = function (host, changed) {
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const told = () => (host.isConnected ? changed() : stop());
    const watch = new MutationObserver(told);
    const stop = () => (watch.disconnect(), dark.removeEventListener("change", told));
    watch.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    dark.addEventListener("change", told);
  };

  // Calls back with the width of `host`, now and whenever it changes.
  Fernn.onWidth = function (host, changed) {
    let last = 0;
    const watch = new ResizeObserver(() => {
      if (!host.isConnected) return watch.disconnect();
      const width = Math.floor(host.clientWidth);
      if (width && width !== last) changed((last = width));
    });
    watch.observe(host);
    if (host.clientWidth) changed((last = Math.floor(host.clientWidth)));
  };

  // A chart in SVG that fills the width of its host: draw(width) gives [height, ...parts].
  Fernn.chart = function (host, label, draw) {
    const picture = Fernn.svg("svg.f-chart", { role: "img", "aria-label": label });
    host.append(picture);
    Fernn.onWidth(host, (width) => {
      const [height, ...parts] = draw(width);
      picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
      picture.setAttribute("height", height);
      picture.replaceChildren(...parts.flat(3).filter(Boolean));
    });
    return picture;
  };
})((window.Fernn = window.Fernn || {}));
