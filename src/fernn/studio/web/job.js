// A job under way: asked about three times a second, its front shown as it grows.
(function (Studio) {
  "use strict";

  const PAUSE = 330; // milliseconds between questions
  let timer = 0, followed = null, isLed = false, spoken = "";

  // `leads`: the picked formula is shown as it changes, until a person chooses or edits one.
  Studio.follow = function (run, leads) {
    clearTimeout(timer);
    followed = run;
    isLed = leads;
    Studio.now.job = { state: "running", seconds: 0, share: 0, front: [] };
    Studio.showJob();
    ask();
  };

  Studio.unfollow = function () {
    clearTimeout(timer);
    followed = null;
    Studio.now.job = null;
  };

  Studio.on("chosen", () => (isLed = false));
  Studio.on("back", () => followed && ask());

  async function ask() {
    const run = followed;
    clearTimeout(timer);
    let job;
    try {
      job = await Studio.get(`/api/jobs/${encodeURIComponent(run)}`);
    } catch (problem) {
      if (!problem.isGone) Studio.trouble(problem);
      return; // "back" asks again
    }
    if (run !== followed) return;
    Studio.now.job = job;
    if (job.front.length) {
      Studio.now.front = job.front;
      Studio.now.picked = job.picked;
      Studio.showFront();
      if (isLed && job.picked !== null) Studio.choose(job.front[job.picked].formula, "picked");
    }
    Studio.showJob();
    if (job.state === "running" || job.state === "stopping") return void (timer = setTimeout(ask, PAUSE));
    followed = null;
    if (job.state === "failed") Studio.trouble(new Error(job.error || "Learning failed."));
    Studio.say(job.state === "failed" ? "Learning failed." : `Learning has ended: ${job.ended}.`);
    await Studio.loadRun(isLed).catch(Studio.trouble);
    Studio.showJob();
  }

  Studio.stop = async function () {
    if (!followed) return;
    try {
      Studio.now.job = await Studio.post(`/api/jobs/${encodeURIComponent(followed)}/stop`, {});
      Studio.showJob();
    } catch (problem) {
      Studio.trouble(problem);
    }
  };

  Studio.showJob = function () {
    const job = Studio.now.job, host = document.getElementById("progress");
    const start = document.getElementById("start-learning"), stop = document.getElementById("stop-learning");
    if (!start) return;
    const isOn = Boolean(followed && job && (job.state === "running" || job.state === "stopping"));
    const hadFocus = document.activeElement === start || document.activeElement === stop;
    start.hidden = isOn;
    stop.hidden = !isOn;
    stop.textContent = job && job.state === "stopping" ? "Stop at once" : "Stop, keep the best";
    if (hadFocus) (isOn ? stop : start).focus();
    host.hidden = !isOn;
    if (!isOn) return host.replaceChildren();
    const words = [`${Math.round(job.seconds)} s`, job.tried ? `${job.tried.toLocaleString("en")} ${job.unit}${job.tried === 1 || /s$/.test(job.unit) ? "" : "s"} tried` : job.note || "starting",
      job.state === "stopping" ? "stopping" : job.seconds_left !== null && job.seconds_left !== undefined && `about ${Math.ceil(job.seconds_left)} s left`].filter(Boolean);
    let bar = host.querySelector("progress");
    if (!bar) {
      bar = Fernn.el("progress", { max: 1, "aria-label": "learning" });
      host.replaceChildren(bar, Fernn.el("p.f-note"));
    }
    bar.value = job.share || 0;
    host.lastChild.textContent = words.join(" · ");
    const best = job.picked !== null && job.picked !== undefined && job.front[job.picked];
    const said = best ? `Best so far: ${best.formula}` : job.note || "";
    if (said && said !== spoken) Studio.say((spoken = said));
  };
})((window.Studio = window.Studio || {}));
