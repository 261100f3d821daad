"""Scenes of Lyft's prediction data set, written here chunk by chunk as the format says."""

import builtins
import json

import numpy as np
import pytest

from fernn.data import lyft_scenes, split
from fernn.errors import DataError

SCENE = [("frame_index_interval", "<i8", (2,)), ("host", "<U16"), ("start_time", "<i8"), ("end_time", "<i8")]
FRAME = [
    ("timestamp", "<i8"),
    ("agent_index_interval", "<i8", (2,)),
    ("traffic_light_faces_index_interval", "<i8", (2,)),
    ("ego_translation", "<f8", (3,)),
    ("ego_rotation", "<f8", (3, 3)),
]
AGENT = [
    ("centroid", "<f8", (2,)),
    ("extent", "<f4", (3,)),
    ("yaw", "<f4"),
    ("velocity", "<f4", (2,)),
    ("track_id", "<u8"),
    ("label_probabilities", "<f4", (17,)),
]
CAR, WALKER = 3, 14


def written(folder, fields, rows, chunk, codec):
    folder.mkdir(parents=True)
    facts = {"zarr_format": 2, "shape": [len(rows)], "chunks": [chunk], "dtype": fields, "order": "C", "filters": None}
    facts |= {"compressor": codec.get_config() if codec else None, "fill_value": None}
    (folder / ".zarray").write_text(json.dumps(facts))
    padded = np.zeros(-(-len(rows) // chunk) * chunk, rows.dtype)
    padded[: len(rows)] = rows
    for i in range(len(padded) // chunk):
        data = padded[i * chunk : (i + 1) * chunk].tobytes()
        (folder / str(i)).write_bytes(codec.encode(data) if codec else data)


@pytest.fixture
def scenes(tmp_path):
    """`scenes([{(frame, track): (x, y, yaw, kind)}, ...])` writes a data set with a scene of 60 frames for each."""
    numcodecs = pytest.importorskip("numcodecs", reason="numcodecs is not installed")

    def write(*given, frames=60, codec="blosc", name="small.zarr"):
        tables = [np.zeros(len(given), SCENE), np.zeros(len(given) * frames, FRAME), []]
        for s, seen in enumerate(given):
            tables[0][s]["frame_index_interval"] = (s * frames, (s + 1) * frames)
            for f in range(frames):
                row = tables[1][s * frames + f]
                row["timestamp"] = 10**18 + (s * frames + f) * 10**8
                begin = len(tables[2])
                for (at, track), (x, y, yaw, kind) in seen.items():
                    if at == f:
                        agent = np.zeros((), AGENT)
                        agent["centroid"], agent["yaw"], agent["track_id"] = (x, y), yaw, track
                        agent["label_probabilities"][kind] = 0.9
                        tables[2].append(agent)
                row["agent_index_interval"] = (begin, len(tables[2]))
        tables[2] = np.array(tables[2], AGENT)
        packed = numcodecs.Blosc(cname="lz4", clevel=5, shuffle=1) if codec == "blosc" else None
        for kind, fields, rows in zip(("scenes", "frames", "agents"), (SCENE, FRAME, AGENT), tables, strict=True):
            written(tmp_path / name / kind, fields, rows, 17, packed)
        return tmp_path / name

    return write


def straight(track, frames, start, step, yaw, kind=CAR):
    return {(f, track): (start[0] + f * step[0], start[1] + f * step[1], yaw, kind) for f in frames}


def test_a_car_that_drives_ahead_moves_along_x_whatever_its_heading(scenes):
    north = straight(7, range(60), (100, 50), (0, 2), np.pi / 2)
    data = lyft_scenes(scenes(north), shifted=False)
    assert data.cases == ("scene-0-car-7-frame-0", "scene-0-car-7-frame-10")
    for trace in data.values:
        assert np.allclose(trace[0], 2 * np.arange(50), atol=1e-4)
        assert np.allclose(trace[1], 0, atol=1e-4)
        assert np.allclose(trace[2], [0] + [2] * 49, atol=1e-4)
    assert (data.channels, data.dt, data.labels) == (("x", "y", "x_diff", "y_diff"), 0.1, None)


def test_what_is_on_the_left_has_a_positive_y(scenes):
    drift = straight(1, range(60), (0, 0), (1, 1), 0.0) | straight(2, range(60), (5, 5), (-1, 0), np.pi)
    data = lyft_scenes(scenes(drift, codec=None), shifted=False)
    assert np.allclose(data.trace("scene-0-car-1-frame-0")[:2, 3], [3, 3])
    assert np.allclose(data.trace("scene-0-car-2-frame-0")[:2, 3], [3, 0], atol=1e-6)


def test_only_cars_that_are_seen_without_a_gap_are_taken(scenes):
    seen = straight(1, range(60), (0, 0), (1, 0), 0.0, WALKER)
    seen |= straight(2, [*range(20), *range(21, 60)], (0, 0), (1, 0), 0.0)
    data = lyft_scenes(scenes(seen), samples=20, stride=10, shifted=False)
    assert data.cases == ("scene-0-car-2-frame-0", "scene-0-car-2-frame-21", "scene-0-car-2-frame-31")


def test_shifted_paths_are_real_ones_moved_as_a_whole(scenes):
    path = scenes(
        straight(1, range(60), (0, 0), (1, 0), 0.0) | straight(2, range(60), (9, 9), (3, 0.5), 0.0),
        straight(1, range(60), (0, 0), (2, 0), 0.0),
    )
    data = lyft_scenes(path, seed=3)
    assert data.classes == ("bad", "good")
    assert data.positive.tolist() == [True] * 6 + [False] * 6
    real, moved = data.values[:6], data.values[6:]
    group = {trace[2:].round(6).tobytes(): g for trace, g in zip(real, data.groups[:6], strict=True)}
    for trace, g in zip(moved, data.groups[6:], strict=True):
        assert group[trace[2:].round(6).tobytes()] == g
        assert (np.abs(trace[:2, 0]) < 20).all()
        assert (trace[:2, 0] != 0).all()
    assert set(data.groups) == {"scene-0-car-1", "scene-0-car-2", "scene-1-car-1"}
    assert lyft_scenes(path, seed=3) == data != lyft_scenes(path, seed=4)
    train, test = split(data, test=0.4)
    assert not set(train.groups) & set(test.groups)


def test_scenes_can_be_chosen(scenes):
    path = scenes(*(straight(s, range(60), (0, 0), (s, 0), 0.0) for s in range(1, 4)))
    assert set(lyft_scenes(path, [1], shifted=False).groups) == {"scene-1-car-2"}
    with pytest.raises(DataError, match="scenes 0 to 2, no scene 3"):
        lyft_scenes(path, [3])


def test_what_is_missing_or_damaged_is_told_with_its_place(scenes, tmp_path):
    path = scenes(straight(1, range(60), (0, 0), (1, 0), 0.0))
    with pytest.raises(DataError, match="seen for 61 frames"):
        lyft_scenes(path, samples=61)
    with pytest.raises(DataError, match="stride >= 1"):
        lyft_scenes(path, stride=0)
    with pytest.raises(DataError, match="no folder"):
        lyft_scenes(tmp_path / "none.zarr")
    with pytest.raises(DataError, match=r"no table 'scenes'"):
        lyft_scenes(tmp_path)
    (path / "agents" / "1").write_bytes(b"no blosc")
    with pytest.raises(DataError, match="agents/1: the chunk cannot be unpacked"):
        lyft_scenes(path)
    facts = json.loads((path / "frames" / ".zarray").read_text())
    (path / "frames" / ".zarray").write_text(json.dumps(facts | {"shape": [40]}))
    with pytest.raises(DataError, match="frames: rows 0 to 60 are asked for, but there are 40"):
        lyft_scenes(path)
    (path / "frames" / ".zarray").write_text(json.dumps(facts | {"dtype": [["timestamp", "<i8"]]}))
    with pytest.raises(DataError, match=r"frames/.zarray: no field 'agent_index_interval'; there are 'timestamp'"):
        lyft_scenes(path)
    (path / "frames" / ".zarray").write_text("{}")
    with pytest.raises(DataError, match=r"frames/.zarray does not describe a table"):
        lyft_scenes(path)


def changed(path, table, **facts):
    file = path / table / ".zarray"
    file.write_text(json.dumps(json.loads(file.read_text()) | facts))


@pytest.mark.parametrize("codec", ["pickle", "json2", "vlen-utf8", ["blosc"], None])
def test_only_codecs_that_unpack_bytes_are_used(scenes, codec, monkeypatch):
    path = scenes(straight(1, range(60), (0, 0), (1, 0), 0.0))
    changed(path, "agents", compressor={"id": codec})
    monkeypatch.setattr("numcodecs.get_codec", lambda config: pytest.fail(f"{config} was made"))
    changed(path, "scenes", compressor=None)
    changed(path, "frames", compressor=None)
    with pytest.raises(DataError, match=r"agents/.zarray does not describe a table .*none of blosc, zlib"):
        lyft_scenes(path)


@pytest.mark.parametrize("codec", ["zlib", "gzip", "zstd", "lz4", "bz2", "lzma"])
def test_the_usual_codecs_are_read(scenes, codec):
    path = scenes(straight(1, range(60), (0, 0), (1, 0), 0.0), codec=None)
    plain = lyft_scenes(path)
    pack = pytest.importorskip("numcodecs").get_codec({"id": codec})
    changed(path, "agents", compressor=pack.get_config())
    for chunk in (path / "agents").glob("[0-9]*"):
        chunk.write_bytes(pack.encode(chunk.read_bytes()))
    assert lyft_scenes(path) == plain


def test_a_chunk_that_is_not_there_is_told(scenes):
    path = scenes(straight(1, range(60), (0, 0), (1, 0), 0.0))
    (path / "agents" / "2").unlink()
    with pytest.raises(DataError, match="there is no chunk agents/2"):
        lyft_scenes(path)


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ({"chunks": [0]}, "60 rows in chunks of 0"),
        ({"chunks": [-1]}, "chunks of -1"),
        ({"chunks": [True]}, "chunks of True"),
        ({"chunks": [10**14]}, "agents/0: the chunk cannot be unpacked"),
        ({"shape": ["x"]}, "'x' rows"),
        ({"shape": [[60]]}, "rows in chunks"),
        ({"shape": [60, 2]}, "does not describe"),
        ({"dtype": "<i8"}, "does not describe"),
        ({"dtype": [["centroid", "<f8", [10**12]], *AGENT[1:]]}, "does not describe|must hold"),
        ({"dtype": [["centroid", "<f8"], *AGENT[1:]]}, r"'centroid' must hold numbers of shape \(2,\)"),
        ({"dtype": [["centroid", "<U4", [2]], *AGENT[1:]]}, "'centroid' must hold numbers .* it holds <U4"),
        ({"dtype": [*AGENT[:-1], ["label_probabilities", "<f4", [2]]]}, r"of shape \(17,\)"),
        ({"dtype": [["centroid", "|O", [2]], *AGENT[1:]]}, "must hold numbers"),
        ({"compressor": 3}, "does not describe"),
    ],
)
def test_what_describes_a_table_is_checked_once(scenes, facts, told):
    path = scenes(straight(1, range(60), (0, 0), (1, 0), 0.0))
    changed(path, "agents", **facts)
    with pytest.raises(DataError, match=told):
        lyft_scenes(path)


def test_intervals_are_two_whole_numbers_in_order(scenes):
    path = scenes(straight(1, range(60), (0, 0), (1, 0), 0.0), codec=None)
    (path / "frames" / ".zarray").write_text("[" * 100_000)
    with pytest.raises(DataError, match=r"frames/.zarray does not describe a table"):
        lyft_scenes(path)
    path = scenes(straight(1, range(60), (0, 0), (1, 0), 0.0), codec=None, name="second.zarr")
    frames = np.frombuffer((path / "frames" / "1").read_bytes(), FRAME).copy()
    frames["agent_index_interval"][3] = (20, 18)
    (path / "frames" / "1").write_bytes(frames.tobytes())
    with pytest.raises(DataError, match="frames, row 20: agents 20 to 18"):
        lyft_scenes(path)
    scene = np.frombuffer((path / "scenes" / "0").read_bytes(), SCENE).copy()
    scene["frame_index_interval"][0] = (30, 10)
    (path / "scenes" / "0").write_bytes(scene.tobytes())
    with pytest.raises(DataError, match="frames: rows 30 to 10"):
        lyft_scenes(path)
    changed(path, "scenes", dtype=[["frame_index_interval", "<i8"], *SCENE[1:]])
    with pytest.raises(DataError, match=r"'frame_index_interval' must hold whole numbers of shape \(2,\)"):
        lyft_scenes(path)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"scenes": 0}, r"as in scenes=\[0\]; got 0"),
        ({"scenes": "0"}, "got '0'"),
        ({"scenes": [0.5]}, "a whole number; got 0.5"),
        ({"offset": np.inf}, "offset .* got inf"),
        ({"offset": np.nan}, "offset .* got nan"),
        ({"samples": 2.5}, "samples >= 1, a whole number; got 2.5"),
        ({"seed": -1}, "seed >= 0"),
    ],
)
def test_what_cannot_be_asked_of_scenes_is_said(scenes, asked, told):
    path = scenes(straight(1, range(60), (0, 0), (1, 0), 0.0))
    with pytest.raises(DataError, match=told):
        lyft_scenes(path, **asked)


def test_without_numcodecs_the_error_says_how_to_get_it(monkeypatch, tmp_path):
    there = builtins.__import__

    def importing(name, *rest):
        if name == "numcodecs":
            raise ImportError(name)
        return there(name, *rest)

    monkeypatch.setattr(builtins, "__import__", importing)
    with pytest.raises(DataError, match=r"pip install 'fernn\[lyft\]'"):
        lyft_scenes(tmp_path)
