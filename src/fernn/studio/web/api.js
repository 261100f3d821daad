// Talking to the server: JSON in and out, errors in words, and a note while it does not answer.
(function (Studio) {
  "use strict";

  // What the server says is wrong, or that it says nothing.
  class Trouble extends Error {
    constructor(words, at = null, isGone = false) {
      super(words);
      this.at = at;
      this.isGone = isGone;
    }
  }
  Studio.Trouble = Trouble;

  async function asked(path, options) {
    let answer;
    try {
      answer = await fetch(path, { ...options, headers: { "X-Fernn": "1", ...(options.headers || {}) } });
    } catch (problem) {
      if (problem.name === "AbortError") throw problem;
      gone();
      throw new Trouble("The server does not answer.", null, true);
    }
    if (answer.status === 401) {
      locked();
      throw new Trouble("The studio was started anew.", null, true);
    }
    const said = await answer.json().catch(() => ({ error: `The server answered ${answer.status} without words.` }));
    if (!answer.ok) throw new Trouble(said.error || `status ${answer.status}`, said.at ?? null);
    return said;
  }

  Studio.get = (path) => asked(path, {});
  Studio.post = (path, body) =>
    asked(path, { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } });

  // A file goes as it is; `told` hears which share of it has gone.
  Studio.upload = function (file, told) {
    return new Promise((resolve, reject) => {
      const call = new XMLHttpRequest();
      call.open("POST", `/api/files?name=${encodeURIComponent(file.name)}`);
      call.setRequestHeader("X-Fernn", "1");
      call.upload.onprogress = (event) => event.lengthComputable && told(event.loaded / event.total);
      call.onerror = () => reject(new Trouble("The upload was cut off: the server does not answer, or refused the file while it came."));
      call.onload = () => {
        let said = {};
        try {
          said = JSON.parse(call.responseText);
        } catch {
          said = { error: `The server answered ${call.status} without words.` };
        }
        if (call.status < 300) resolve(said);
        else reject(new Trouble(said.error || `status ${call.status}`));
      };
      call.send(file);
    });
  };

  // One call at a time: while one is under way only the latest of the others waits. What comes last is what counts.
  Studio.latest = function (work, shown, failed) {
    let isBusy = false, waiting = null, number = 0;
    async function go(given) {
      if (isBusy) return void (waiting = { given });
      isBusy = true;
      const mine = ++number;
      try {
        const found = await work(...given);
        if (mine === number) shown(found, !waiting, ...given);
      } catch (problem) {
        if (mine === number && !waiting) failed(problem, ...given);
      }
      isBusy = false;
      if (waiting) {
        const next = waiting.given;
        waiting = null;
        go(next);
      }
    }
    const call = (...given) => go(given);
    call.forget = () => ((waiting = null), number++); // what is under way is not wanted any more
    return call;
  };

  const banner = () => document.getElementById("gone");
  let timer = 0;

  function gone() {
    banner().hidden = false;
    banner().textContent = "The server does not answer. If it is only slow, this page goes on by itself. If it has ended, start “fernn studio” again and open the address that it prints; the runs are kept.";
    if (!timer) timer = setTimeout(again, 1500);
  }

  async function again() {
    timer = 0;
    try {
      await Studio.get("/api/hello");
    } catch (problem) {
      if (!problem.isGone) back();
      return;
    }
    back();
  }

  function back() {
    banner().hidden = true;
    Studio.emit("back");
  }

  function locked() {
    banner().hidden = false;
    banner().textContent = "The studio was started anew and does not know this page. Open the address that “fernn studio” printed; then this page goes on, too, if the address has the same port. The runs are kept.";
    if (!timer) timer = setTimeout(again, 3000);
  }
})((window.Studio = window.Studio || {}));
