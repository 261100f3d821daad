"""What a stranger would trip over in the package, counted: files, names, readings of formulas that are not closed."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from dataclasses import fields
from pathlib import Path
from typing import get_args

import pytest
from bench.modules import HELP, LEARN, loaded_modules, of_fernn

from fernn.errors import UnsupportedError
from fernn.formula import export_formula, grammar, laws, measures, mirror, nodes, parse
from fernn.formula.export import FORMATS, json, latex
from fernn.formula.nodes import AnyAtom, AnyOf, Atom, Constant, Formula, atom, children
from oracle import holds, rho
from strategies import MIXED

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "fernn"
FILES = sorted(path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py")
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in FILES}
PARTICIPLE = re.compile(
    r"_*([a-z]+ed(_\w+)?|(begun|told|kept|made|found|taken|given|seen|said|drawn|known|held|sent|gone|left|written)(_\w+)?)"
)
NODES = [node for node in get_args(Formula) if node not in (Constant, Atom, AnyAtom, AnyOf)]
TEMPORAL = {node for node in NODES if "over" in {each.name for each in fields(node)}}
OPERATORS = {node.__name__ for node in NODES}


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


@pytest.mark.parametrize("room", ["", ".formula", ".formula.export", ".learners", ".mining", ".report"])
def test_what_is_imported_when_it_is_used_is_listed(room):
    """In a new process, where nothing was used yet; so that editors and notebooks complete the names."""
    code = f"import fernn{room} as room; print(sorted(set(room.__all__) - set(dir(room))))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_array_types_are_named_in_one_file():
    alias = re.compile(r"^\w+(: TypeAlias)? = npt\.NDArray\[", re.MULTILINE)
    assert [path.stem for path in FILES if alias.search(path.read_text(encoding="utf-8"))] == ["arrays"]


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


def example(node):
    """The operator around `x >= 1`, and around `y >= 2` where it stands between two formulas."""
    parts = atom("x", ">=", 1.0), atom("y", ">=", 2.0)
    return node(*parts[: sum(each.name in ("inner", "left", "right") for each in fields(node))])


REFUSED = {("breach", example(node)) for node in (nodes.Since, nodes.WeakSince, nodes.Trigger)}


def test_tables_that_the_type_checker_does_not_see_have_every_operator():
    past, future = set(nodes.PAST), set(nodes.FUTURE)
    assert set(grammar.PREFIX) | set(grammar.INFIX) == set(NODES)
    assert all((node in grammar.INFIX) == (len(children(example(node))) == 2) for node in NODES)
    assert set(grammar.OPERATORS.values()) == set(grammar.SYNONYMS.values()) == set(NODES)
    assert past | future == set(grammar.TIMED) == set(measures._MIRROR) == TEMPORAL
    assert not past & future
    assert all((measures._MIRROR[node] in past) == (node in future) for node in TEMPORAL)
    assert {nodes.WeakUntil, nodes.WeakSince} == TEMPORAL - set(laws._DUAL)  # these have no single word for their dual
    assert all(laws._DUAL[dual] is node for node, dual in laws._DUAL.items())
    assert set(latex._SYMBOL) == set(json._WORD) == set(NODES)
    assert {*MIXED[0], *MIXED[1]} == TEMPORAL, "the random formulas of the tests"


@pytest.mark.parametrize("node", NODES, ids=lambda node: node.__name__)
def test_an_operator_is_read_written_judged_and_exported(node):
    formula = example(node)
    assert parse(str(formula)) == formula
    assert mirror(mirror(formula)) == formula
    trace = {"x": [0.0, 2.0, 1.5], "y": [3.0, 0.0, 2.5]}
    assert all((rho(formula, trace, t) >= 0) == holds(formula, trace, t) for t in range(3))
    for target in FORMATS:
        if (target, formula) in REFUSED:
            with pytest.raises(UnsupportedError, match=node.__name__):
                export_formula(formula, target)
        else:
            assert export_formula(formula, target)


@pytest.mark.parametrize("node", sorted(TEMPORAL, key=lambda node: node.__name__), ids=lambda node: node.__name__)
def test_the_docs_tell_of_every_temporal_operator(node):
    word = grammar.PREFIX.get(node) or grammar.INFIX[node][0]
    long = next(word for word, other in grammar.SYNONYMS.items() if other is node)
    written = f"`{word} a`" if node in grammar.PREFIX else f"`a {word} b`"
    assert f"| {written} | `{long}" in (ROOT / "docs" / "language.md").read_text(encoding="utf-8")
    assert f"{word}[i,j]" in (ROOT / "docs" / "semantics.md").read_text(encoding="utf-8")
    assert f"`{word}`" in (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")


def test_learning_from_a_file_loads_what_it_needs():
    """Counted, not timed: `python -m bench.modules` measures."""
    learning = of_fernn(loaded_modules(LEARN))
    assert len(learning) <= 180
    unused = (
        "fernn.studio", "fernn.report.plots", "fernn.learners.lattice", "fernn.learners.tree", "fernn.learners.sklearn",
        "fernn.learners.maxsat", "fernn.learners.paper", "fernn.engines.ray", "fernn.formula.export.c",
    )  # fmt: skip
    assert [name for name in learning if name.startswith(unused)] == []
    asking = loaded_modules(HELP)
    assert len(of_fernn(asking)) <= 25
    assert not {"numpy", "numba", "sklearn", "scipy", "rich"} & set(asking)
    assert len(of_fernn(loaded_modules("import fernn"))) <= 3


def test_the_index_of_files_is_current():
    done = subprocess.run([sys.executable, ROOT / "docs" / "make_index.py", "--check"], check=False)
    assert done.returncode == 0, "make index"
