"""A client that holds a connection open and does not use it loses it; one that waits for an answer does not."""

from __future__ import annotations

import http.client
import json
import socket
import time

import pytest
from served import Served

from fernn.studio.data_files import KnownFile
from fernn.studio.server import ConnectionLimits

LONG = 300.0  # seconds that a test waits for what must come to pass


@pytest.fixture(scope="module")
def strict(tmp_path_factory):
    served = Served(tmp_path_factory.mktemp("strict") / "runs", ConnectionLimits(head=1.5, stall=3.0, most=12))
    yield served
    served.close()


def connected(served, sent=b"", **options):
    line = socket.socket()
    for option, value in options.items():
        line.setsockopt(socket.SOL_SOCKET, getattr(socket, option), value)
    line.settimeout(LONG)
    line.connect(("127.0.0.1", served.port))
    if sent:
        line.sendall(sent)
    return line


def dropped(line):
    """Whether the server ends the connection; what it says before counts for nothing."""
    try:
        while line.recv(65536):
            pass
    except (ConnectionResetError, BrokenPipeError):
        return True
    except TimeoutError:
        return False
    return True


def head(served, method, path, *more):
    lines = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{served.port}", "X-Fernn: 1", *more]
    return "\r\n".join([*lines, f"Cookie: fernn-{served.port}={served.session}", "", ""]).encode()


@pytest.mark.slow
@pytest.mark.parametrize("sent", [b"", b"G", b"GET / HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: "])
def test_one_who_sends_nothing_or_half_a_request_is_dropped(strict, sent):
    with connected(strict, sent) as line:
        assert dropped(line)


def test_one_who_sends_a_letter_at_a_time_is_dropped_too(strict):
    with connected(strict, b"GET / HTTP/1.1\r\nX-A: ") as line:
        end = time.monotonic() + LONG
        try:
            while time.monotonic() < end:
                line.sendall(b"a")
                time.sleep(0.1)
        except OSError:
            return
    pytest.fail("it was listened to for ever")


def test_half_a_second_request_is_no_better(strict):
    with connected(strict, head(strict, "GET", "/api/files")) as line:
        assert line.recv(65536).startswith(b"HTTP/1.1 200")
        line.sendall(b"GET / HTTP/1.1\r\n")
        assert dropped(line)


def test_a_body_that_stops_coming_ends_the_connection(strict):
    with connected(strict, head(strict, "POST", "/api/files?name=a.csv", "Content-Length: 1000") + b"a,b\n") as line:
        assert dropped(line)
    assert not [file for file in strict.client.get("/api/files").json() if file["name"] == "a.csv"]


def test_one_who_takes_no_answer_is_dropped(strict, monkeypatch):
    many = [KnownFile(str(i), "x" * 100, "none", "made", {}) for i in range(100_000)]
    monkeypatch.setattr(strict.studio.files, "all", lambda: many)
    with connected(strict, SO_RCVBUF=4096) as line:
        line.sendall(head(strict, "GET", "/api/files"))
        end = time.monotonic() + LONG
        while any(not each.is_busy or each.transport.is_closing() for each in connections(strict)):
            assert time.monotonic() < end
            time.sleep(0.05)
        while connections(strict):
            assert time.monotonic() < end
            time.sleep(0.05)


@pytest.mark.slow
def test_one_who_waits_for_an_answer_keeps_the_connection(tmp_path, monkeypatch):
    served = Served(tmp_path / "runs", ConnectionLimits(head=4.0, stall=4.0))
    known = served.studio.files.all()

    def slow():
        time.sleep(6)
        return known

    monkeypatch.setattr(served.studio.files, "all", slow)
    try:
        line = http.client.HTTPConnection("127.0.0.1", served.port, timeout=LONG)
        cookie = {"Cookie": f"fernn-{served.port}={served.session}"}
        line.request("GET", "/api/files", headers=cookie)
        assert len(json.loads(line.getresponse().read())) == len(known)
        line.close()
    finally:
        served.close()


def test_no_crowd_of_idle_connections_keeps_others_out(tmp_path):
    served = Served(tmp_path / "runs", ConnectionLimits(head=600, stall=600, most=8))
    crowd = [connected(served, b"GET / HT") for _ in range(30)]
    try:
        assert served.client.get("/api/hello").status_code == 200
        assert dropped(crowd[0])
        assert len([each for each in connections(served) if not each.transport.is_closing()]) <= 8
    finally:
        for line in crowd:
            line.close()
        served.close()


def connections(served):
    """Of whoever is not the client of the test."""
    return [each for each in list(served.server.server_state.connections) if each.cycle is None or each.is_busy]
