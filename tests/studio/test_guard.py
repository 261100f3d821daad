"""Who may ask, and what every answer says to the browser."""

from __future__ import annotations

import http.client
import json

import pytest

httpx = pytest.importorskip("httpx", reason="httpx is not installed")
pytest.importorskip("fastapi", reason="fastapi is not installed")

from functools import partial

from served import PATIENT

from fernn.studio.access import POLICY

get = partial(httpx.get, timeout=PATIENT)


def asked(served, method, path, headers, body=b""):
    """A request with exactly these headers and this path, as no client would send them."""
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=PATIENT)
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in headers:
        connection.putheader(name, value)
    connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body)
    answer = connection.getresponse()
    found = answer.status, answer.read(), dict(answer.getheaders())
    connection.close()
    return found


def mine(served, host=None):
    return [
        ("Host", f"127.0.0.1:{served.port}" if host is None else host),
        ("Cookie", f"fernn-{served.port}={served.session}"),
    ]


def test_the_printed_address_gives_a_cookie_that_scripts_cannot_read_and_leads_to_the_page(served):
    with httpx.Client(base_url=served.address, timeout=PATIENT) as stranger:
        first = stranger.get(served.opening)
        assert first.status_code == 200
        assert 'http-equiv="refresh" content="0; url=/"' in first.text
        cookie = first.headers["set-cookie"]
        assert cookie.startswith(f"fernn-{served.port}=")
        assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(cookie.split("; "))
        assert stranger.get("/").headers["content-type"].startswith("text/html")


@pytest.mark.parametrize("path", ["/", "/api/hello", "/api/files", "/api/runs", "/index.html", "/nothing"])
def test_nothing_is_shown_without_the_cookie(served, path):
    answer = get(served.address + path)
    assert answer.status_code == 401
    assert "address" in answer.json()["error"]


@pytest.mark.parametrize("path", ["/", "/?token=of-yesterday", "/api/runs/a/report"])
def test_a_browser_without_the_cookie_is_told_in_words_what_to_open(served, path):
    answer = get(served.address + path, headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
    assert answer.status_code == 401
    assert answer.headers["content-type"].startswith("text/html")
    assert "open the address that it prints" in answer.text.replace("\n", " ")
    assert answer.headers["content-security-policy"] == POLICY


@pytest.mark.parametrize("token", ["", "x", "%00", "a" * 40, "%ff%fe", "é"])
def test_another_token_is_refused(served, token):
    assert get(f"{served.address}/?token={token}").status_code == 401


@pytest.mark.parametrize(
    "cookie", ["fernn-1=TOKEN", "fernn-PORT=", "fernn-PORT=x", "fernn-PORT", ";;=;", "a\xffb=\xfe"]
)
def test_another_cookie_is_refused(served, cookie):
    text = cookie.replace("PORT", str(served.port)).replace("TOKEN", served.session)
    status, _, _ = asked(served, "GET", "/api/hello", [("Host", f"127.0.0.1:{served.port}"), ("Cookie", text)])
    assert status == 401


@pytest.mark.parametrize("host", ["evil.example", "evil.example:PORT", "127.0.0.1", "127.0.0.1:1", "", "0.0.0.0:PORT"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_another_host_is_refused_before_anything_is_done(served, host, method):
    before = served.client.get("/api/files").json()
    headers = [*mine(served, host.replace("PORT", str(served.port))), ("X-Fernn", "1")]
    status, _, _ = asked(served, method, "/api/files?name=evil.csv", headers, b"a,b\n1,2\n")
    assert status in (400, 403)
    assert served.client.get("/api/files").json() == before


def test_two_hosts_in_one_request_are_refused(served):
    status, _, _ = asked(served, "GET", "/api/hello", [*mine(served), ("Host", "evil.example")])
    assert status in (400, 403)


def test_localhost_is_this_machine_too(served):
    assert asked(served, "GET", "/api/hello", mine(served, f"localhost:{served.port}"))[0] == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:PORT", "http://127.0.0.1:1", ""])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_page_of_another_origin_is_refused(served, origin, method):
    headers = [*mine(served), ("Origin", origin.replace("PORT", str(served.port))), ("X-Fernn", "1")]
    assert asked(served, method, "/api/hello", headers)[0] == 403


def test_a_request_that_a_form_of_another_page_could_send_is_refused(served):
    body = json.dumps({"formula": "G (v <= 1)", "to": "c"}).encode()
    assert asked(served, "POST", "/api/export", mine(served), body)[0] == 403
    assert asked(served, "POST", "/api/export", [*mine(served), ("X-Fernn", "1")], body)[0] == 200
    own = ("Origin", f"http://127.0.0.1:{served.port}")
    assert asked(served, "POST", "/api/export", [*mine(served), own], body)[0] == 200


def test_what_another_page_on_this_machine_embeds_is_refused(served):
    assert asked(served, "GET", "/api/runs", [*mine(served), ("Sec-Fetch-Site", "same-site")])[0] == 403
    assert asked(served, "GET", "/api/runs", [*mine(served), ("Sec-Fetch-Site", "same-origin")])[0] == 200


@pytest.mark.parametrize("path", ["/", "/api/hello", "/api/runs/none", "/theme.css"])
def test_every_answer_lets_only_what_is_from_here_run(client, path):
    headers = client.get(path).headers
    policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'self'"
    assert "script-src" not in policy
    assert policy["frame-ancestors"] == "'none'"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize(
    "path",
    [
        "/../../../etc/passwd", "/..%2f..%2f..%2fetc%2fpasswd", "/%2e%2e/%2e%2e/app.py", "//etc/passwd",
        "/web/../app.py",
        "/%00", "/index.html%00.js", "/..\\..\\app.py", "/%5c..%5capp.py", "/app.py", "/guard.py", "/.", "/..",
        "/api/runs/..", "/api/runs/%2e%2e%2f%2e%2e", "/api/runs/..%2f..%2fetc/report", "/api/runs/%00/report",
        "/api/jobs/..%2fuploads", "/api/data/..%2f..%2fetc%2fpasswd~/traces", "/api/data/%2fetc%2fpasswd~/traces",
        "/api/data/file:%2f%2f%2fetc%2fpasswd~/traces", "/api/runs/%ff%fe", "/api/runs/" + "a" * 5000,
    ],
)  # fmt: skip
def test_no_path_leads_out(served, path):
    status, body, _ = asked(served, "GET", path, mine(served))
    assert status == 404
    assert set(json.loads(body)) == {"error"}
    assert b"root:" not in body


def test_there_is_no_page_of_documentation_that_loads_from_elsewhere(client):
    for path in ("/docs", "/redoc", "/openapi.json"):
        assert client.get(path).status_code == 404


def test_cookies_of_other_applications_do_no_harm(served):
    jar = f'prefs={{"a": 1}}; fernn-{served.port}={served.session}; x'
    with httpx.Client(base_url=served.address, timeout=PATIENT) as client:
        assert client.get("/api/hello", headers={"Cookie": jar, "X-Fernn": "1"}).status_code == 200
