"""Who comes in: what others can read of the machine is worth nothing, and a token is worth a session once."""

from __future__ import annotations

import os
import re
import signal
import stat
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import pytest
from served import PATIENT, Served

httpx = pytest.importorskip("httpx", reason="httpx is not installed")

from fernn.studio.access import Access, SecretFiles

get, post = partial(httpx.get, timeout=PATIENT), partial(httpx.post, timeout=PATIENT)
FERNN = [sys.executable, "-c", "from fernn.cli import main; main()", "studio"]


def lead(page):
    """Where a page leads by itself."""
    return re.search(r'http-equiv="refresh" content="0; url=([^"]+)"', page).group(1).replace("&amp;", "&")


def test_a_token_is_worth_a_session_once_and_the_session_is_another_value():
    access = Access()
    token = access.issue()
    session = access.redeem(token)
    assert session != token
    assert access.has_session(session)
    assert not access.has_session(token)
    assert not access.is_script(f"Bearer {session}")
    assert access.refusal(token) == "used"
    assert access.redeem(token) is None
    assert access.redeem(access.issue()) not in (None, session)


def test_a_token_that_nobody_used_ends_by_itself():
    now = [0.0]
    access = Access(life=600, now=lambda: now[0])
    token, other = access.issue(), access.issue()
    now[0] = 599
    assert access.redeem(other) is not None
    now[0] = 601
    assert access.refusal(token) == "late"
    assert access.redeem(token) is None


@pytest.mark.parametrize("given", ["", "x", "\udcff", "é", "a" * 5000])
def test_other_words_are_no_secret(given):
    access = Access()
    access.issue(), access.open_session()
    assert access.redeem(given) is None
    assert not access.has_session(given)
    assert not access.is_script(f"Bearer {given}")


def test_an_address_opened_a_second_time_says_that_it_was_used(served):
    address = served.opening
    with httpx.Client(timeout=PATIENT) as first, httpx.Client(timeout=PATIENT) as second:
        assert first.get(address).status_code == 200
        assert first.get(f"{served.address}/api/hello").status_code == 200
        answer = second.get(address)
        assert answer.status_code == 401
        assert "was not you" in answer.json()["error"]
        assert second.get(f"{served.address}/api/hello").status_code == 401
        assert first.get(address).headers["location"] == "/"  # who is in already is not asked again


def test_scripts_come_in_with_their_token_and_without_a_cookie(served):
    token = {"Authorization": f"Bearer {served.access.script_token}"}
    assert get(f"{served.address}/api/hello", headers=token).status_code == 200
    export = {"formula": "G (v <= 1)", "to": "text"}
    assert post(f"{served.address}/api/export", headers=token, json=export).json()["text"] == "G (v <= 1)\n"
    other = {"Authorization": f"Bearer {served.session}"}
    assert get(f"{served.address}/api/hello", headers=other).status_code == 401
    foreign = token | {"Origin": "http://evil.example"}
    assert get(f"{served.address}/api/hello", headers=foreign).status_code == 403
    address = post(f"{served.address}/api/address", headers=token).json()["address"]
    assert get(address).status_code == 200
    assert get(address).status_code == 401
    assert post(f"{served.address}/api/address", headers={"X-Fernn": "1"}).status_code == 401


@pytest.mark.skipif(os.name != "posix", reason="needs modes of files")
def test_files_are_for_the_user_alone_and_go_in_the_end(tmp_path):
    files = SecretFiles(tmp_path / "runs", 8123)
    paths = [files.write_token(Access()), files.write_opener("http://127.0.0.1:8123/?token=a&b")]
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in paths)
    assert stat.S_IMODE(files.folder.stat().st_mode) == 0o700
    assert lead(paths[1].read_text()) == "http://127.0.0.1:8123/?token=a&b"
    files.remove()
    assert not files.folder.exists()


@pytest.mark.skipif(os.name != "posix", reason="needs modes of files")
def test_a_folder_that_others_could_enter_or_that_leads_elsewhere_is_not_used(tmp_path):
    (tmp_path / "runs" / ".studio").mkdir(parents=True)
    (tmp_path / "runs" / ".studio").chmod(0o777)
    files = SecretFiles(tmp_path / "runs", 1)
    assert stat.S_IMODE(files.folder.stat().st_mode) == 0o700
    files.remove()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "runs" / ".studio").symlink_to(tmp_path / "elsewhere")
    files = SecretFiles(tmp_path / "runs", 1)
    try:
        assert files.folder.parent != tmp_path / "runs"
        assert stat.S_IMODE(files.folder.stat().st_mode) == 0o700
    finally:
        files.remove()


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_the_command_line_of_the_browser_holds_no_token(tmp_path, end):
    program, seen = tmp_path / "browser", tmp_path / "seen"
    program.write_text(f'#!/bin/sh\nprintf "%s" "$*" > {seen}.part && mv {seen}.part {seen}\n')
    program.chmod(0o755)
    environment = os.environ | {"PYTHONUNBUFFERED": "1", "DISPLAY": ":0", "BROWSER": f"{program} %s"}
    process = subprocess.Popen(
        FERNN, cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=environment,
    )  # fmt: skip
    try:
        said = [process.stdout.readline() for _ in range(4)]
        printed = said[0].split()[-1]
        host = printed.partition("/?")[0]
        wait_for(seen.exists)
        line = seen.read_text()
        assert line.startswith("file:///")
        opener = Path(line.removeprefix("file://"))
        assert stat.S_IMODE(opener.stat().st_mode) == 0o600
        assert stat.S_IMODE(opener.parent.stat().st_mode) == 0o700
        address = lead(opener.read_text())
        assert address != printed
        token = address.partition("token=")[2]
        assert token not in line
        with httpx.Client(base_url=host, timeout=PATIENT) as client:
            assert client.get(address).status_code == 200
            assert client.get("/api/hello").status_code == 200
            assert token not in client.cookies.values()
        assert get(address).status_code == 401
        script = Path(said[2].split()[-1]).read_text().strip()
        assert token != script
        scripted = get(f"{host}/api/hello", headers={"Authorization": f"Bearer {script}"})
        assert scripted.status_code == 200
    finally:
        process.send_signal(end)
        _, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, "")
    assert not opener.parent.exists()


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs a terminal")
def test_enter_prints_another_address(tmp_path):
    import pty

    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*FERNN, "--no-browser"], cwd=tmp_path, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"}, start_new_session=True,
        preexec_fn=lambda: __import__("fcntl").ioctl(0, __import__("termios").TIOCSCTTY, 0),
    )  # fmt: skip
    try:
        said = [process.stdout.readline() for _ in range(4)]
        assert "Enter prints another" in said[1]
        os.write(ours, b"\n")
        again = process.stdout.readline().split()[-1]
        assert again != said[0].split()[-1]
        assert get(again).status_code == 200
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
        os.close(ours), os.close(theirs)
    assert process.returncode == 0


def test_a_browser_comes_in_through_the_file_and_stays_in(chromium, tmp_path):
    studio = Served(tmp_path / "runs")
    files = SecretFiles(tmp_path / "runs", studio.port)
    context = chromium.new_context()
    try:
        page = context.new_page()
        page.goto(files.write_opener(studio.opening).as_uri())
        page.locator(".zone").wait_for()
        assert page.url.split("#")[0] == f"{studio.address}/"
        page.reload()
        page.locator(".zone").wait_for()
        cookie = context.cookies()[0]
        assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    finally:
        context.close()
        files.remove()
        studio.close()


def wait_for(condition, seconds=300):
    pause = threading.Event()
    for _ in range(20 * seconds):
        if condition():
            return
        pause.wait(0.05)
    raise AssertionError("it did not come to pass")
