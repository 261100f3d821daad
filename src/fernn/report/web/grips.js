// The thresholds of a panel as handles at its right edge: pulled with a pointer, moved with the arrow keys.
(function (Fernn) {
  "use strict";

  // `moved(mark, level, isOver)` is called while a handle moves; without it, handles only show their values.
  Fernn.grips = function (panel, moved) {
    let marks = [];
    let settled = 0;
    const grips = [];

    function made(k) {
      const grip = Fernn.el("div.f-grip", moved ? { role: "slider", tabindex: "0", "aria-orientation": "vertical" } : {});
      panel.node.append(grip);
      if (!moved) return grip;
      grip.addEventListener("pointerdown", (event) => held(event, marks[k], grip));
      grip.addEventListener("keydown", (event) => {
        const steps = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1, PageUp: 10, PageDown: -10 }[event.key];
        if (!steps) return;
        event.preventDefault();
        event.stopPropagation();
        const level = marks[k].level + steps * panel.step * (event.shiftKey ? 10 : 1);
        const rounded = round(Math.max(panel.range[0], Math.min(panel.range[1], level)));
        moved(marks[k], rounded, false);
        clearTimeout(settled);
        settled = setTimeout(() => moved(marks[k], rounded, true), 350);
      });
      return grip;
    }

    // No more digits than a pixel is worth.
    const round = (level) => +level.toFixed(Math.max(0, Math.min(12, Math.ceil(-Math.log10(panel.step)))));

    // Follows the pointer until it is let go.
    function held(event, mark, source) {
      event.preventDefault();
      const box = panel.node.getBoundingClientRect();
      const level = (each) => round(panel.levelAt(each.clientY - box.top));
      const follow = (each) => moved(mark, level(each), false);
      const stop = (each) => {
        source.removeEventListener("pointermove", follow);
        source.removeEventListener("pointerup", stop);
        source.removeEventListener("pointercancel", stop);
        source.classList.remove("held");
        moved(mark, level(each), true);
      };
      source.setPointerCapture(event.pointerId);
      source.classList.add("held");
      source.addEventListener("pointermove", follow);
      source.addEventListener("pointerup", stop);
      source.addEventListener("pointercancel", stop);
    }

    // The same handles stay where they can, so that the one with the focus keeps it.
    function show(now) {
      marks = now;
      while (grips.length < marks.length) grips.push(made(grips.length));
      while (grips.length > marks.length) grips.pop().remove();
      const places = spread(marks.map((mark) => panel.placeOf(mark.level)), 20);
      marks.forEach((mark, k) => {
        const grip = grips[k];
        grip.style.top = `${places[k]}px`;
        grip.textContent = worded(mark.level);
        grip.title = mark.text;
        if (!moved) return;
        grip.setAttribute("aria-label", `threshold of ${mark.text}`);
        grip.setAttribute("aria-valuenow", mark.level);
        grip.setAttribute("aria-valuemin", panel.range[0]);
        grip.setAttribute("aria-valuemax", panel.range[1]);
      });
    }

    // As it is, or where that is too long for the edge of a panel, with fewer digits; the title has all of them.
    function worded(level) {
      const text = Fernn.plain(level);
      return text.length <= 9 ? text : Fernn.short(level, 5);
    }

    // Places moved apart until none lies on another.
    function spread(places, room) {
      const order = places.map((_, k) => k).sort((a, b) => places[a] - places[b]);
      const found = places.slice();
      order.forEach((k, rank) => {
        if (rank) found[k] = Math.max(found[k], found[order[rank - 1]] + room);
      });
      return found;
    }

    return { show, held };
  };
})((window.Fernn = window.Fernn || {}));
