"""Who may ask: the browser that came first with a one-time token, from this page; scripts with the token of scripts.

The one-time token in the address is exchanged for a cookie that scripts cannot read and other sites' requests do not
carry. A page of another site may have its own name resolved to this machine, so the name that it uses is looked at too;
all of this comes before anything is done. Every answer tells the browser to run only what comes from here.
"""

from __future__ import annotations

import json
from html import escape
from urllib.parse import parse_qs

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .access import Access

Headers = list[tuple[bytes, bytes]]

POLICY = (
    "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
REPORT_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox allow-scripts allow-downloads"
)
"""A report has its scripts within it: they run, but as a stranger, who can ask nothing of the studio."""

_ALWAYS: Headers = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]
READING = ("GET", "HEAD")


class Guard:
    """Stands before the routes."""

    def __init__(self, app: ASGIApp, port: int, access: Access) -> None:
        self._app, self.access, self.cookie = app, access, f"fernn-{port}"
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self._app(scope, receive, send)
        if scope["type"] != "http":
            return await send({"type": "websocket.close", "code": 1008})
        headers = _once(scope["headers"])
        problem = self._stranger(scope["method"], scope["path"], headers)
        if problem:
            return await _say(send, 403, problem, headers)
        is_known = self._is_known(headers)
        if scope["path"] == "/" and scope["method"] == "GET" and (given := _token(scope["query_string"])) is not None:
            if is_known:  # the address of an earlier time, opened again
                return await _say(send, 303, "", headers, [(b"location", b"/")])
            return await self._admit(send, given, headers)
        if not is_known:
            return await _say(send, 401, f"this needs the cookie of the studio. {_OPEN}", headers)

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": _added(message["headers"])}
            await send(message)

        return await self._app(scope, receive, with_headers)

    async def _admit(self, send: Send, token: str, headers: dict[str, str]) -> None:
        """A session for a one-time token.

        The page goes on by itself: after a redirect the browser would hold back a cookie of SameSite=Strict, since the
        file that led here is of another site.
        """
        refusal = self.access.refusal(token)
        session = self.access.redeem(token)
        if refusal is not None or session is None:
            return await _say(send, 401, f"{_REFUSALS[refusal or 'unknown']} {_OPEN}", headers)
        crumb = f"{self.cookie}={session}; HttpOnly; SameSite=Strict; Path=/"
        more = [(b"set-cookie", crumb.encode()), (b"content-type", b"text/html; charset=utf-8")]
        await _answer(send, 200, _ENTER.encode(), more)

    def _stranger(self, method: str, path: str, headers: dict[str, str]) -> str | None:
        """What is wrong with where the request comes from."""
        host, origin = headers.get("host", ""), headers.get("origin")
        if host.lower() not in self._hosts:
            return f"the studio is at {min(self._hosts)}, not at {host[:100]!r}. {_OPEN}"
        if origin is not None and origin.lower() != f"http://{host.lower()}":
            return f"the studio answers its own page, not {origin[:100]!r}."
        if path != "/" and headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return "the studio answers its own page, not that of another site."
        is_script = self.access.is_script(headers.get("authorization", ""))
        if origin is None and method not in READING and headers.get("x-fernn") != "1" and not is_script:
            return "a request that changes something needs an Origin, or the header X-Fernn: 1."
        return None

    def _is_known(self, headers: dict[str, str]) -> bool:
        """Others at this address may have cookies of any kind, so they are only parted at semicolons."""
        if self.access.is_script(headers.get("authorization", "")):
            return True
        crumbs = (crumb.strip().partition("=") for crumb in headers.get("cookie", "").split(";"))
        return any(name == self.cookie and self.access.has_session(value) for name, _, value in crumbs)


_OPEN = "Press Enter where fernn studio runs, and open the address that it prints."
_REFUSALS = {
    "used": "this address was opened before, and works once. If that was not you, end the studio with Ctrl-C: "
    "somebody else on this machine may have come in.",
    "late": "this address is too old.",
    "unknown": "the token in the address is not one of this studio.",
}
_ENTER = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=/">
<meta name="color-scheme" content="light dark"><title>fernn studio</title></head>
<body><p><a href="/">Open the studio</a></p></body></html>
"""
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>fernn studio</title></head>
<body><h1>The studio does not know this page</h1>
<p>The addresses with a <code>?token=</code> that <code>fernn studio</code> prints work once, within some minutes.
Go to the terminal where it runs, press Enter, and open the address that it prints. Runs and uploads are kept.</p>
<p><small>It says: {}</small></p></body></html>
"""


def _once(raw: Headers) -> dict[str, str]:
    """Headers by name; of one that is there twice no value counts, since others may take another one than we do."""
    found: dict[str, str] = {}
    for name, value in raw:
        key = name.decode("latin-1").lower()
        found[key] = "twice" if key in found and key != "cookie" else value.decode("latin-1")
    return found


def _token(query: bytes) -> str | None:
    try:
        return parse_qs(query.decode("latin-1"), max_num_fields=10).get("token", [None])[0]
    except ValueError:
        return None


def _added(headers: Headers) -> Headers:
    """The answer's own policy stays, if it has one."""
    named = {name.lower() for name, _ in headers}
    policy = [] if b"content-security-policy" in named else [(b"content-security-policy", POLICY.encode())]
    return [*headers, *policy, *((name, value) for name, value in _ALWAYS if name not in named)]


async def _say(send: Send, status: int, problem: str, asked: dict[str, str], more: Headers | None = None) -> None:
    """In words on a page to one who looks, as an object to a script."""
    is_page = "text/html" in asked.get("accept", "")
    kind = b"text/html; charset=utf-8" if is_page else b"application/json"
    words = _PAGE.format(escape(problem)) if is_page else json.dumps({"error": problem})
    text = words.encode() if problem else b""
    await _answer(send, status, text, [(b"content-type", kind), *(more or [])])


async def _answer(send: Send, status: int, text: bytes, headers: Headers) -> None:
    length = (b"content-length", str(len(text)).encode())
    await send({"type": "http.response.start", "status": status, "headers": _added([*headers, length])})
    await send({"type": "http.response.body", "body": text})
