"""Every Python block in the README and the docs runs, every fernn command in them works."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
FERNN = f"{shlex.quote(sys.executable)} -c 'from fernn.cli import main; main()'"


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_the_page_shows_works(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if "import fernn.torch" in page.read_text(encoding="utf-8"):
        pytest.importorskip("torch.nn", reason="torch is not installed")
    if "z3" in page.read_text(encoding="utf-8"):
        pytest.importorskip("z3", reason="z3 is not installed")
    if "fernn.report" in page.read_text(encoding="utf-8"):
        pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    space: dict = {"__name__": "page"}
    for language, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language == "python":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(compile(text, f"{page.name}: {text.splitlines()[0]}", "exec"), space)
        elif language == "sh":
            for line in text.splitlines():
                if re.match(r"(printf .*\| )?fernn ", line):
                    command = re.sub(r"(^|\| )fernn ", rf"\1{FERNN} ", line)
                    done = subprocess.run(command, shell=True, capture_output=True, text=True)
                    assert done.returncode in (0, 1), f"{line}\n{done.stderr}"


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        prose = BLOCK.sub("", page.read_text(encoding="utf-8"))
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", prose):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name} -> {target}"
