// Dark or light: as the system asks, or as chosen here. Runs before anything is drawn.
(function () {
  "use strict";
  const kept = (() => {
    try {
      return localStorage.getItem("fernn-paper");
    } catch {
      return null;
    }
  })();
  if (kept === "dark" || kept === "light") document.documentElement.dataset.theme = kept;

  window.Studio = window.Studio || {};
  window.Studio.turnPaper = function () {
    const root = document.documentElement;
    const isDark = (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
    root.dataset.theme = isDark ? "light" : "dark";
    try {
      localStorage.setItem("fernn-paper", root.dataset.theme);
    } catch {
      // kept for this page only
    }
  };
})();
