"""The page in a real browser, with what a person does on it."""

from __future__ import annotations

import fernn

DRIVES = "case,time,v,w,label\n" + "".join(
    f"{kind}-{i},{t},{20 + (i + 3 * t) % 7 + 15 * (kind == 'bad' and t == 3 + i % 5)},{t % 3},{kind}\n"
    for kind in ("good", "bad")
    for i in range(12)
    for t in range(10)
)
"""Two dozen traces: v stays under 27 in the good ones, and is above 34 once in the bad ones, but not at first."""


class Window:
    """A browser with a studio open in it. `close` fails where a script failed or a request left the studio."""

    def __init__(self, chromium, studio, width=1280, height=900, dark=False, touches=False):
        self.studio = studio
        self.context = chromium.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light", accept_downloads=True
        )
        self.asked, self.failures = [], []
        self.context.on("request", lambda request: self.asked.append(request.url))
        self.context.on("weberror", lambda error: self.failures.append(str(error.error)))
        self.context.on("console", self._heard)
        self.page = self.tab(studio.opening)

    def _heard(self, message):
        if message.type == "error" and "Failed to load resource" not in message.text:  # refusals are answers
            self.failures.append(message.text)

    def tab(self, path="/"):
        """Another tab, on an address of the studio."""
        page = self.context.new_page()
        page.goto(path if path.startswith("http") else self.studio.address + path)
        page.wait_for_url(lambda address: "?token=" not in address)  # an opening address leads on by itself
        return page

    def wait_for_start(self):
        """The page once its start is drawn: nothing is under way that would look for what a test takes away."""
        self.page.locator("#start h2.big").wait_for()
        return self.page

    def upload(self, text=DRIVES, name="drive.csv"):
        """Choose a file, and wait until it is drawn."""
        self.choose(text, name)
        self.page.locator(".f-panel").first.wait_for()

    def choose(self, text, name):
        file = {"name": name, "mimeType": "text/csv", "buffer": text.encode()}
        self.page.locator("#chosen-file").set_input_files(file)

    def write(self, formula):
        """Type a formula over the one that is there, and wait for what it says."""
        self.page.locator("#formula").fill(formula)
        self.page.wait_for_function(
            "text => (Studio.now.reading || {}).formula === text", arg=str(fernn.parse(formula))
        )

    def learn(self, method="enumerative", length=2):
        """Learn something short, to the end."""
        self.page.locator("#learn select[name=method]").select_option(method)
        self.page.get_by_label("length", exact=True).fill(str(length))
        self.page.get_by_role("button", name="Learn", exact=True).click()
        self.page.locator("#open-report").wait_for()

    def strangers(self):
        """Requests that went elsewhere."""
        own = (self.studio.address + "/", "blob:", "data:")
        return [address for address in self.asked if not address.startswith(own)]

    def is_wide(self):
        """Whether something sticks out to the right."""
        return self.page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")

    def close(self):
        self.context.close()
        assert not self.failures, self.failures
        assert not self.strangers(), self.strangers()
