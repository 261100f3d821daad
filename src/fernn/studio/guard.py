"""Who may ask: the browser that opened the printed address, on this machine, from this page.

The token in the address becomes a cookie that scripts cannot read and other sites' requests do not carry. A page
of another site may have its own name resolved to this machine, so the name that it uses is looked at too; all of
this comes before anything is done. Every answer tells the browser to run only what comes from here.
"""

from __future__ import annotations

import json
from hmac import compare_digest
from html import escape
from secrets import token_urlsafe
from urllib.parse import parse_qs

from starlette.types import ASGIApp, Message, Receive, Scope, Send

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

    def __init__(self, app: ASGIApp, port: int, token: str) -> None:
        self._app, self._token, self.cookie = app, token, f"fernn-{port}"
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
        if scope["path"] == "/" and scope["method"] == "GET" and (given := _token(scope["query_string"])):
            if not compare_digest(given.encode(), self._token.encode()):
                return await _say(send, 401, f"the token in the address is not that of this studio. {_OPEN}", headers)
            crumb = f"{self.cookie}={self._token}; HttpOnly; SameSite=Strict; Path=/"
            return await _say(send, 303, "", headers, [(b"location", b"/"), (b"set-cookie", crumb.encode())])
        if not self._is_known(headers.get("cookie", "")):
            return await _say(send, 401, f"this needs the cookie of the studio. {_OPEN}", headers)

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": _added(message["headers"])}
            await send(message)

        return await self._app(scope, receive, with_headers)

    def _stranger(self, method: str, path: str, headers: dict[str, str]) -> str | None:
        """What is wrong with where the request comes from."""
        host, origin = headers.get("host", ""), headers.get("origin")
        if host.lower() not in self._hosts:
            return f"the studio is at {min(self._hosts)}, not at {host[:100]!r}. {_OPEN}"
        if origin is not None and origin.lower() != f"http://{host.lower()}":
            return f"the studio answers its own page, not {origin[:100]!r}."
        if path != "/" and headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return "the studio answers its own page, not that of another site."
        if origin is None and method not in READING and headers.get("x-fernn") != "1":
            return "a request that changes something needs an Origin, or the header X-Fernn: 1."
        return None

    def _is_known(self, cookies: str) -> bool:
        """Others at this address may have cookies of any kind, so they are only parted at semicolons."""
        crumbs = (crumb.strip().partition("=") for crumb in cookies.split(";"))
        return any(name == self.cookie and compare_digest(_raw(value), _raw(self._token)) for name, _, value in crumbs)


def _raw(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


_OPEN = "Open the address that fernn studio printed."
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>fernn studio</title></head>
<body><h1>The studio does not know this page</h1>
<p>Every start of <code>fernn studio</code> has an address of its own. Look where you started it, and open the whole
address that it printed there, with its <code>?token=</code>. Runs and uploads are kept.</p>
<p><small>It says: {}</small></p></body></html>
"""


def new_token() -> str:
    """Drawn anew for every studio."""
    return token_urlsafe(24)


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
    length = (b"content-length", str(len(text)).encode())
    headers = _added([(b"content-type", kind), length, *(more or [])])
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text})
