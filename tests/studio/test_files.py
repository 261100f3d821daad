"""Uploads and what is seen of them."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest
from served import CSV, Served


def test_an_upload_is_seen_with_its_card_columns_and_data(served, client):
    answer = client.post("/api/files", params={"name": "drive.csv"}, content=CSV).json()
    assert answer["name"] == "drive.csv"
    assert answer["size"] == len(CSV)
    assert answer["from"] == "upload"
    assert answer in client.get("/api/files").json()
    seen = served.look(answer["id"])
    assert seen["columns"] == ["case", "time", "v", "w", "label"]
    assert seen["card"]["cases"] == 24
    assert [c["name"] for c in seen["card"]["channels"]] == ["v", "w"]
    assert seen["reading"]["label"] == "label"
    traces = client.get(f"/api/data/{seen['data']}/traces").json()
    assert len(traces["cases"]) == 24


def test_the_same_file_twice_is_one_file(served):
    assert served.upload() == served.upload()
    assert served.upload() != served.upload(CSV + "bad-99,0,1,1,bad\n")
    assert served.upload() != served.upload(name="other.csv")


def test_other_options_are_other_data_and_the_word_for_data_says_how_to_read_them(served, client):
    file = served.upload()
    one, other = served.look(file), served.look(file, channels=["w"], good="bad")
    assert one["data"] != other["data"]
    traces = client.get(f"/api/data/{other['data']}/traces").json()
    assert [c["name"] for c in traces["channels"]] == ["w"]
    assert traces["classes"] == ["good", "bad"]


def test_a_file_with_mistakes_shows_where_they_are(served):
    lines = CSV.splitlines()
    lines[3] += ",EXTRA"
    lines[7] = lines[7].replace(lines[7].split(",")[2], "fast", 1)
    seen = served.look(served.upload("\n".join(lines), "bad.csv"))
    assert seen["card"] is None
    assert seen["data"] is None
    assert seen["columns"][0] == "case"
    places = [problem["where"] for problem in seen["problems"] if problem["severity"] == "error"]
    assert any("bad.csv line 4" in place for place in places)
    assert any("bad.csv line 8" in place for place in places)
    assert all(problem["fix"] for problem in seen["problems"])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", b"\x00\x01\x02"), ("a.npz", b"PK\x03\x04 nothing"), ("a.npz", b"x"), ("a.parquet", b"PAR1PAR1"),
        ("a.ts", b"@data\n:::"), ("a.trace", b"1,0;0\n---\nx"), ("a.csv", b"\xff\xfe\xff"), ("a.csv", b'"' * 1001),
        ("a.csv", b"," * 10_000), ("a.csv", b"\n" * 100), ("a.csv", b"\xef\xbb\xbf"),
        ("a.pkl", b"\x80\x04\x95cos\nsystem\n(S'touch /tmp/x'\ntR."),
    ],
)  # fmt: skip
def test_a_file_that_is_none_of_ours_has_problems_and_no_data(served, name, content):
    seen = served.look(served.upload(content, name))
    assert seen["data"] is None
    assert seen["problems"]


def test_a_pickle_within_an_npz_file_is_not_opened(served, tmp_path):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "sprung"),)

    trapped = np.empty((1, 1, 1), dtype=object)
    trapped[0, 0, 0] = Trap()
    np.savez(tmp_path / "x.npz", X=trapped, y=np.array([0]))
    seen = served.look(served.upload((tmp_path / "x.npz").read_bytes(), "x.npz"))
    assert seen["data"] is None
    assert not (tmp_path / "sprung").exists()


def test_an_upload_over_the_limit_is_refused_and_leaves_nothing(tmp_path):
    served = Served(tmp_path / "runs", upload_limit=1000)
    try:
        answer = served.client.post("/api/files", params={"name": "a.csv"}, content=b"x" * 1001)
        assert answer.status_code == 413
        assert "1.0 kB" in answer.json()["error"]
        assert "--upload-limit" in answer.json()["error"]
        in_parts = served.client.post("/api/files", params={"name": "a.csv"}, content=iter([b"x" * 600] * 5))
        assert in_parts.status_code == 413
        assert list((tmp_path / "runs" / "uploads").iterdir()) == []
        assert served.client.post("/api/files", params={"name": "a.csv"}, content=b"x" * 1000).status_code == 200
    finally:
        served.close()


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("../../evil.csv", "evil.csv"), ("/etc/passwd", "passwd"), ("C:\\data\\a b.csv", "a b.csv"), ("a\0b.csv",
        "a-b.csv"),
        ("~root.csv", "root.csv"), (".hidden.csv", "hidden.csv"), ("mü (1).csv", "mü (1).csv"),
        ("a" * 500 + ".parquet", "a" * 80 + ".parquet"), ("<script>.csv", "script-.csv"), ("settings.json",
        "settings.json"),
    ],
)  # fmt: skip
def test_names_of_uploads_are_made_safe(served, client, name, safe):
    answer = client.post("/api/files", params={"name": name}, content=b"1")
    assert answer.json()["name"] == safe
    inside = served.studio.folder / "uploads" / answer.json()["id"] / safe
    assert inside.read_bytes() == b"1"


@pytest.mark.parametrize("name", ["", ".", "..", "/", "...", "\\", "-", " "])
def test_what_is_no_name_is_refused(client, name):
    answer = client.post("/api/files", params={"name": name}, content=b"1")
    assert answer.status_code == 400
    assert "name" in answer.json()["error"]


def test_links_among_the_uploads_are_not_followed(served, client, tmp_path):
    secret = tmp_path / "secret.csv"
    secret.write_text(CSV)
    uploads = served.studio.folder / "uploads"
    (uploads / ("a" * 16)).mkdir(parents=True)
    (uploads / ("a" * 16) / "link.csv").symlink_to(secret)
    (uploads / ("b" * 16)).symlink_to(tmp_path)
    known = {file["id"] for file in client.get("/api/files").json()}
    for name in ("a" * 16, "b" * 16):
        assert name not in known
        assert client.post(f"/api/files/{name}/look", json={}).status_code == 404
        assert client.get(f"/api/data/{name}~/traces").status_code == 404


def test_an_upload_cannot_pass_for_a_run(served, client):
    served.upload('{"schema": 1, "data": {}}', "settings.json")
    assert all(run["run"] != "uploads" for run in client.get("/api/runs").json())


def test_a_data_set_is_made_by_its_name(served, client):
    assert "cruise" in client.get("/api/hello").json()["datasets"]
    seen = served.look("cruise")
    assert seen["card"]["cases"] == 2000
    refused = client.post("/api/files/cruise/look", json={"good": "anomaly"})
    assert refused.status_code == 400
    assert "as it is" in refused.json()["error"]


@pytest.mark.parametrize(
    "options",
    [
        {"label": 3}, {"nonsense": 1}, {"channels": "v"}, {"channels": []}, {"channels": [1]}, {"layout": "round"},
        {"delimiter": "ab"}, {"encoding": "klingon"}, {"dt": -1}, {"dt": True}, {"header": 1}, {"memory_limit": 0},
        {"marks": "v"}, {"good": []}, {"label": "x" * 5000}, {"label": "\ud800"}, {"encoding": "idna"}, {"dt": 10**400},
    ],
)  # fmt: skip
def test_wrong_options_of_reading_are_told(served, client, options):
    answer = client.post(f"/api/files/{served.upload()}/look", content=json.dumps(options))
    assert answer.status_code == 400
    assert answer.json()["error"]


def test_a_file_that_changes_is_read_again_and_one_that_is_gone_is_missed(tmp_path):
    file = tmp_path / "drive.csv"
    file.write_text(CSV)
    served = Served(tmp_path / "runs", file=str(file))
    try:
        name = served.client.get("/api/hello").json()["file"]
        assert served.look(name)["card"]["cases"] == 24
        file.write_text(CSV + "".join(f"bad-77,{t},40,0,bad\n" for t in range(10)))
        assert served.look(name)["card"]["cases"] == 25
        file.unlink()
        answer = served.client.post(f"/api/files/{name}/look", json={})
        assert answer.status_code == 404
        assert "not there any more" in answer.json()["error"]
    finally:
        served.close()


def test_few_datasets_are_kept(served):
    from fernn.studio.data_files import MOST_DATASETS

    file = served.upload()
    for i in range(MOST_DATASETS + 5):
        served.look(file, unit=f"u{i}")
    assert len(served.studio.datasets) <= MOST_DATASETS
