"""Files of pictures are the same each time, small, and made without a trace elsewhere."""

import subprocess
import sys
from io import BytesIO

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="needs fernn[plot]")

from PIL import Image

from fernn import parse
from fernn.data import load
from fernn.errors import UnsupportedError
from fernn.mining import parameter_set
from fernn.report import against, bars, confusion, curves, front, lanes, region, save
from fernn.report.plots.style import render

DRAW = """
import sys
from fernn import parse
from fernn.data import load
from fernn.report import against, save
save(against(load("cruise", cases=20), {"r": parse("G (v <= 34)"), "s": parse("F[3,9] (v >= 25)")}), sys.argv[1])
assert "matplotlib.pyplot" not in sys.modules
"""


def picture():
    return against(load("cruise", cases=20), {"r": parse("G (v <= 34)"), "s": parse("F[3,9] (v >= 25)")})


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["png", "svg"])
def test_the_same_picture_is_the_same_bytes_in_every_process(kind, tmp_path):
    once = save(picture(), tmp_path / f"a.{kind}")
    again = save(picture(), tmp_path / "made" / "folders" / f"b.{kind}")
    elsewhere = tmp_path / f"c.{kind}"
    subprocess.run([sys.executable, "-c", DRAW, str(elsewhere)], check=True)
    assert once.read_bytes() == again.read_bytes() == elsewhere.read_bytes()


@pytest.mark.slow
def test_saving_twice_gives_the_same_file_twice(tmp_path):
    figure = picture()
    for kind in ("png", "svg"):
        assert save(figure, tmp_path / f"a.{kind}").read_bytes() == save(figure, tmp_path / f"b.{kind}").read_bytes()


def test_a_panel_takes_less_than_150_kb_and_loses_no_colour():
    figure = against(load("cruise", cases=100), {"r": parse("G (v <= 34.3)"), "s": parse("H[0,20] (v <= 30)")})
    small = render(figure, ".png")
    assert len(small) < 150_000
    whole = BytesIO()
    figure.savefig(whole, format="png", dpi=100)
    pixels = [np.asarray(Image.open(file).convert("RGB")).astype(int) for file in (BytesIO(small), whole)]
    assert pixels[0].shape[1] == 700
    off = np.abs(pixels[0] - pixels[1]).max(axis=2)
    assert off.max() <= 20
    assert (off == 0).mean() > 0.8


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["png", "svg"])
def test_a_way_across_lanes_is_the_same_bytes_each_time(kind, tmp_path):
    figures = [lanes(load("cruise", cases=5), "G (v <= 34) | F[3,9] (v >= 25)", 1) for _ in range(2)]
    first, second = (save(figure, tmp_path / f"{i}.{kind}").read_bytes() for i, figure in enumerate(figures))
    assert first == second


def test_an_svg_has_no_date(tmp_path):
    text = save(picture(), tmp_path / "a.svg").read_text(encoding="utf-8")
    assert "<svg" in text
    assert "dc:date" not in text


def test_other_endings_are_refused(tmp_path):
    with pytest.raises(UnsupportedError, match=r"\.png or \.svg, got 'a\.pdf'"):
        save(picture(), tmp_path / "a.pdf")


def test_without_matplotlib_every_picture_says_what_to_install(monkeypatch):
    from fernn.learners import Front
    from fernn.learners.base import Entry

    rule = parse("G (v <= 34)")
    found = Front((Entry(rule, 2, 0.1, 0.1, 0.01, 1.0),), 0)
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    wanted = r"pip install 'fernn\[plot\]'"
    data = load("cruise", cases=5)
    for draw in (
        lambda: lanes(data, rule, 0),
        lambda: curves([{"seconds": 1.0, "length": 1, "train": 0.1}]),
        lambda: confusion(rule, data),
        lambda: region(parameter_set("G (v <= ?c)", data, 0.5, 0.5)),
    ):
        with pytest.raises(UnsupportedError, match=wanted):
            draw()
    with pytest.raises(UnsupportedError, match=wanted):
        against(load("cruise", cases=5), {"r": rule})
    with pytest.raises(UnsupportedError, match=wanted):
        bars({"a": {"2": (1.0, 0.1)}}, "error")
    with pytest.raises(UnsupportedError, match=wanted):
        front(found)


def test_the_room_is_entered_without_matplotlib():
    code = "import sys, fernn.report; assert not [m for m in sys.modules if m.startswith('matplotlib')]"
    subprocess.run([sys.executable, "-c", code], check=True)
