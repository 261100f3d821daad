"""The demos on real series that aeon brings along."""

import json
import subprocess
import sys

import pytest

pytest.importorskip("aeon", reason="aeon is not installed")

FERNN = [sys.executable, "-c", "from fernn.cli import main; main()", "demo"]


@pytest.mark.parametrize(("name", "most", "said"), [("italy", 0.05, "["), ("motions", 0.1, "x")])
def test_a_demo_learns_a_rule_that_holds_on_traces_kept_for_the_test(tmp_path, name, most, said):
    words = [*FERNN, name, "--seconds", "20", "--json", "--quiet"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    picked = next(row for row in told["front"] if row["picked"])
    assert picked["test"] <= most
    assert said in picked["formula"]
    assert (tmp_path / told["report"]).is_file()
