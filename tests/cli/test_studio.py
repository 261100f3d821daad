"""The command that serves the studio."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys

import pytest

pytest.importorskip("fastapi", reason="fastapi is not installed")
httpx = pytest.importorskip("httpx", reason="httpx is not installed")

FERNN = [sys.executable, "-c", "from fernn.cli import main; main()", "studio", "--no-browser"]


def begun(folder, *words):
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    return subprocess.Popen(
        [*FERNN, *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )


def refused(folder, *words, **more):
    return subprocess.run([*FERNN, *words], cwd=folder, capture_output=True, text=True, timeout=300, **more)


def test_it_prints_its_address_serves_the_file_and_ends_tidily_at_ctrl_c(tmp_path):
    rows = "".join(f"{i},{v},{'ok' if i else 'off'}\n" for i in range(3) for v in (1, 2, 3))
    (tmp_path / "drive.csv").write_text(f"case,v,kind\n{rows}")
    process = begun(tmp_path, "drive.csv", "--label", "kind", "--folder", "here", "--upload-limit", "5MB")
    try:
        address = process.stdout.readline().split()[-1]
        assert address.startswith("http://127.0.0.1:")
        with httpx.Client(base_url=address.partition("/?")[0], headers={"X-Fernn": "1"}, timeout=300) as client:
            assert client.get(address).status_code == 200
            hello = client.get("/api/hello").json()
            assert hello["upload_limit"] == 5_000_000
            assert hello["folder"] == str(tmp_path / "here")
            seen = client.post(f"/api/files/{hello['file']}/look", json={}).json()
            assert seen["reading"]["label"] == "kind"
            assert seen["card"]["classes"] == [{"name": "off", "count": 1}, {"name": "ok", "count": 2}]
    finally:
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=300)
    assert process.returncode == 0
    assert f"the runs are in {tmp_path / 'here'}" in out
    assert err == ""


@pytest.mark.slow
def test_of_a_large_file_the_page_works_with_a_sample(tmp_path):
    text = "".join(f"{c},{t},{c % 7}.{t:06d},{'ok' if c % 3 else 'off'}\n" for c in range(1600) for t in range(2000))
    (tmp_path / "large.csv").write_text("case,time,v,label\n" + text)
    process = begun(tmp_path, "large.csv", "--folder", "here")
    try:
        said = [process.stdout.readline() for _ in range(3)]
        assert "a sample of its cases" in said[0]
        assert "1600" not in said[0]
        assert "of 534 off" in said[1]
        address = said[2].split()[-1]
        with httpx.Client(base_url=address.partition("/?")[0], headers={"X-Fernn": "1"}, timeout=300) as client:
            client.get(address)
            seen = client.post(f"/api/files/{client.get('/api/hello').json()['file']}/look", json={}).json()
            assert 100 < seen["card"]["cases"] < 400
            assert seen["card"]["longest"] == 2000
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=300)


def test_a_port_that_is_taken_is_told(tmp_path):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        done = refused(tmp_path, "--port", str(port))
    assert done.returncode == 3
    assert f"port {port} is taken" in done.stderr
    assert "--port" in done.stderr
    assert "Traceback" not in done.stderr


def test_it_says_what_to_install(tmp_path):
    script = "import sys; sys.modules['uvicorn'] = None; from fernn.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", script, "studio"], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 3
    assert "pip install 'fernn[studio]'" in done.stderr


@pytest.mark.slow
def test_a_file_that_is_not_there_or_too_large_is_told_at_once(tmp_path):
    (tmp_path / "large.csv").write_text("case,v,label\n" + "a,1,0\n" * 1000)
    for words, code, said in (
        (["none.csv"], 2, "there is no file 'none.csv'"),
        (["."], 2, "is a folder"),
        (["large.csv", "--memory-limit", "100"], 2, "more than the memory limit (100 bytes)"),
        (["--folder", "large.csv"], 3, "is a file"),
        (["--upload-limit", "much"], 3, "such as '2GB'"),
        (["--port", "70000"], 3, "65535"),
    ):
        done = refused(tmp_path, *words)
        assert done.returncode == code, done.stderr
        assert said in done.stderr
        assert "Traceback" not in done.stderr


def test_it_listens_on_this_machine_only():
    from fernn.errors import UnsupportedError
    from fernn.studio.server import bind_socket

    for host in ("0.0.0.0", "", "192.168.0.1", "::", "evil.example"):
        with pytest.raises(UnsupportedError, match="this machine only"):
            bind_socket(0, host)
    with bind_socket(0) as listening:
        assert listening.getsockname()[0] == "127.0.0.1"
