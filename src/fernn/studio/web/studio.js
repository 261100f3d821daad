// From the address to the page: at the start, after a reload, and on the way back.
(function (Studio) {
  "use strict";

  let turn = 0;

  async function restore(focused) {
    const mine = ++turn;
    const { state, now } = Studio;
    Studio.unfollow();
    Studio.trouble(null);
    try {
      if (!now.hello) now.hello = await Studio.get("/api/hello");
      if (!state.file && !state.run && now.hello.file && !location.hash) Studio.set({ file: now.hello.file });
      if (!state.file && !state.run) return void (await Studio.startPage());
      Studio.clearTraces();
      Object.assign(now, { look: null, data: null, front: [], picked: null, run: null, rules: null });
      document.getElementById("start").hidden = true;
      document.getElementById("where").textContent = "";
      document.getElementById("bench").hidden = false;
      document.getElementById("open-report").hidden = true;
      document.getElementById("run").replaceChildren();
      Studio.showFront();
      Studio.emit("cleared");
      if (!state.file) await fromRun();
      if (mine !== turn) return;
      Studio.learnForm();
      if (state.file) await Studio.look();
      if (mine !== turn) return;
      if (focused) document.querySelector(`#reading [name="${CSS.escape(focused)}"]`)?.focus();
      if (now.data) await Studio.loadTraces();
      if (mine !== turn) return;
      await shown();
    } catch (problem) {
      Studio.trouble(problem);
    }
  }

  // Which file a run was made from, and how that was read.
  async function fromRun() {
    const run = await Studio.get(`/api/runs/${encodeURIComponent(Studio.state.run)}`);
    if (run.file) Studio.set({ file: run.file, read: run.data ? Studio.readingOf(run.data) : null });
    else document.getElementById("learn-part").hidden = true;
    document.getElementById("card").replaceChildren();
    document.getElementById("problems").replaceChildren();
  }

  // The run, under way or ended, and the formula.
  async function shown() {
    const { state } = Studio;
    if (!state.run) return void (state.formula && Studio.choose(state.formula, "led"));
    const job = await Studio.get(`/api/jobs/${encodeURIComponent(state.run)}`);
    if (state.formula) Studio.choose(state.formula, "led");
    if (job.state === "running" || job.state === "stopping") Studio.follow(state.run, !state.formula || Boolean(state.led));
    else if (job.state === "failed" && !job.front.length) {
      Studio.trouble(new Error(job.error || "Learning failed."));
      Studio.set({ run: null, class: null, led: null });
      Studio.showFront();
    } else await Studio.loadRun(Boolean(state.led));
  }

  addEventListener("DOMContentLoaded", () => {
    Studio.ruleForm();
    Studio.tabsForm();
    Studio.on("restore", restore);
    Studio.on("back", () => Studio.now.traces || restore());
    restore();
  });
})((window.Studio = window.Studio || {}));
