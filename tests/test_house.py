"""What a stranger would trip over in the package, counted: files, names, readings of formulas that are not closed."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "fernn"
FILES = sorted(path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py")
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in FILES}
PARTICIPLE = re.compile(
    r"_*([a-z]+ed(_\w+)?|(begun|told|kept|made|found|taken|given|seen|said|drawn|known|held|sent|gone|left|written)(_\w+)?)"
)
OPERATORS = {"Not", "And", "Or", "Implies", "Once", "Historically", "Since", "Eventually", "Always", "Until"}


def test_the_house_is_small_enough_to_walk_through():
    assert len(FILES) <= 260
    assert len({path.relative_to(PACKAGE).parts[0] for path in FILES}) <= 13


def test_a_file_is_found_by_its_name():
    names = Counter(path.stem for path in FILES)
    assert sum(count for count in names.values() if count > 1) <= 10


def test_functions_are_named_by_verbs_or_nouns():
    named = [node.name for tree in TREES.values() for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert len([name for name in named if PARTICIPLE.fullmatch(name)]) <= 20


def test_a_class_is_defined_once():
    classes = Counter(node.name for tree in TREES.values() for node in tree.body if isinstance(node, ast.ClassDef))
    assert len([name for name, count in classes.items() if count > 1 and not name.startswith("_")]) <= 5


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_reading_of_all_operators_is_closed(path):
    """A `match` that spells out most operators ends in assert_never, so that mypy names those that it forgets."""
    for node in ast.walk(TREES[path]):
        if isinstance(node, ast.Match):
            patterns = {
                each.cls.id
                for each in ast.walk(node)
                if isinstance(each, ast.MatchClass) and isinstance(each.cls, ast.Name)
            }
            if len(patterns & OPERATORS) >= 8:
                assert "assert_never" in ast.unparse(node), f"line {node.lineno}"


def test_the_index_of_files_is_current():
    done = subprocess.run([sys.executable, ROOT / "docs" / "make_index.py", "--check"], check=False)
    assert done.returncode == 0, "make index"
