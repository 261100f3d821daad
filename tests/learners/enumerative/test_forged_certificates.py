"""No edit of a certificate that claims more than is true is said to stand.

What is true is known from the search written out slowly (`brute`), of whatever space the edited certificate names.
FERNN_FORGERIES sets how many edits are tried; `make forge` tries 10,000.
"""

from __future__ import annotations

import copy
import json
import os
import random
from functools import cache
from itertools import product
from math import inf, nan

import numpy as np
import pytest

import fernn
from brute import fillings, noisy, verdicts
from fernn.errors import DataError
from fernn.formula import Atom, interval, length, parse
from fernn.formula.measures import node_count
from fernn.formula.nodes import ALL_TIME
from fernn.formula.templates import windows_open
from fernn.learners import Enumerative
from fernn.learners.enumerative.audit import audit
from fernn.learners.enumerative.candidates import windows_within
from fernn.learners.enumerative.certificate import Certificate, compose_statement, derive_outcome
from fernn.learners.enumerative.exploration import ExactSpace

COUNT = int(os.environ.get("FERNN_FORGERIES", "400"))
DATA = noisy(1, 30, 4)


@cache
def genuine() -> tuple[str, ...]:
    """Certificates of small searches, as JSON."""
    made = [
        Enumerative(max_length=3, folds=0),
        Enumerative(max_length=3, direction="past", grid=1, thresholds="grid", folds=0),
        Enumerative(max_length=3, thresholds="grid", grid=1, class_weight={"good": 2.0}, folds=0),
        Enumerative(max_length=2, grid=1, thresholds="grid", intervals=True, pieces=2, folds=0),
        Enumerative(max_length=3, grid=1, thresholds="grid", max_misses=0.3, folds=0),
        Enumerative(max_length=3, grid=1, thresholds="grid", negation=True, since=False, folds=0),
        Enumerative(template=parse("{G ?p; F (?p & F ?q)}"), thresholds="grid", grid=1, folds=0),
        Enumerative(template=parse("F[?w] (a >= ?c)"), thresholds="grid", grid=2, folds=0),
        Enumerative(max_length=4, grid=1, thresholds="grid", memory="4KB", folds=0),
        Enumerative(max_length=3, grid=1, thresholds="grid", time_limit=1e-9, folds=0),
    ]
    return tuple(json.dumps(learner.fit(DATA).certificate.to_json()) for learner in made)


# What is true


@cache
def exact_atoms(differences: bool) -> tuple[Atom, ...]:
    """Both sides of a threshold between every two neighbouring values, and beyond all of them."""
    sums = [{"a": 1.0}, {"b": 1.0}, *([{"a": 1.0, "b": -1.0}] if differences else [])]
    samples = np.concatenate(list(DATA.values), axis=1)
    found = []
    for total in sums:
        values = np.unique(sum(weight * samples["ab".index(name)] for name, weight in total.items()))
        places = [values[0] - 1, *((values[1:] + values[:-1]) / 2), values[-1] + 1]
        found += [Atom(tuple(total.items()), relation, float(place)) for place in places for relation in (">=", "<=")]
    return tuple(found)


CASES, SAMPLES = len(DATA), int(DATA.lengths.max())
"""A truth value for every sample of every trace is a whole number of so many bits, the judged samples lowest."""
FIRST, ALL = (1 << CASES) - 1, (1 << CASES * SAMPLES) - 1


def truth(node: Atom, future: bool) -> int:
    found = 0
    for case, trace in enumerate(DATA.values):
        row = sum(weight * trace["ab".index(name)] for name, weight in node.weights)
        held = row >= node.threshold if node.relation == ">=" else row <= node.threshold
        for sample, bit in enumerate(held if future else held[::-1]):
            found |= int(bit) << sample * CASES + case
    return found


def sometime(held: int, window) -> int:
    found = 0
    for start, end in window:
        for ahead in range(start, int(min(end, SAMPLES - 1)) + 1):
            found |= held >> ahead * CASES
    return found


def until(left: int, right: int) -> int:
    found, after = 0, 0
    for sample in reversed(range(SAMPLES)):
        at = sample * CASES
        after = (right >> at | (left >> at & after)) & FIRST
        found |= after << at
    return found


def behaviours(atoms, longest: int, future: bool, since: bool, negation: bool, windows) -> dict[int, set[int]]:
    """Of all formulas, by length; formulas that are true at the same samples are one."""
    found: dict[int, set[int]] = {1: {truth(node, future) for node in atoms}}
    for n in range(2, longest + 1):
        found[n] = {sometime(f, over) for f in found[n - 1] for over in (ALL_TIME, *windows)}
        found[n] |= {ALL ^ sometime(ALL ^ f, over) for f in found[n - 1] for over in (ALL_TIME, *windows)}
        for i in range(1, n - 1):
            for f, g in product(found[i], found[n - 1 - i]):
                found[n] |= {f & g, f | g, *((until(f, g),) if since else ())}
        for i in range(1, n - 2) if negation else ():
            found[n] |= {ALL ^ until(f, g) for f, g in product(found[i], found[n - 2 - i])}
    return found


@cache
def judged(space: str) -> list[tuple[int, np.ndarray]]:
    """Length and verdicts of every formula of a space, each set of verdicts once a length."""
    said = json.loads(space)
    future = said["direction"] == "future"
    listed = [
        Atom(tuple((name, weight) for name, weight in row["sum"]), row["relation"], threshold)
        for row in said["atoms"]
        for threshold in row["thresholds"]
    ]
    atoms = exact_atoms(said["differences"]) if said["thresholds"] == "exact" else listed
    if said["template"] is not None:
        template = parse(said["template"])
        spans = windows_open(template)
        made = fillings(template, atoms, windows_within(spans[0], SAMPLES) if spans else ())
        held = {(node_count(formula), verdicts(formula, DATA, future).tobytes()) for formula in made}
        return [(n, np.frombuffer(each, bool)) for n, each in held]
    windows = [parse(f"F{text} (a >= 0)").over for text in said["windows"]]
    known = behaviours(atoms, said["max_length"], future, said["since"], said["negation"], windows)
    alike = {(n, each & FIRST) for n, some in known.items() for each in some}
    return [(n, np.array([each >> case & 1 for case in range(CASES)], bool)) for n, each in alike]


def true_least(content: dict, longest: int) -> float:
    """The least weighted error of formulas of the space up to a length that keep to its limits."""
    weights, good = true_weights(content), DATA.positive
    space = content["space"]
    keys = ("direction", "max_length", "template", "since", "negation", "windows", "thresholds", "differences", "atoms")
    least = inf
    for n, held in judged(json.dumps({key: space[key] for key in keys} | {"max_length": content["certain"]})):
        missed, passed = weights[good & ~held].sum(), weights[~good & held].sum()
        allowed = [
            space[name] is None or wrong <= space[name] * weights[side].sum() + 1e-9
            for name, wrong, side in (("max_false_alarms", missed, good), ("max_misses", passed, ~good))
        ]
        if n <= longest and all(allowed):
            least = min(least, float(missed + passed))
    return least


def true_weights(content: dict) -> np.ndarray:
    weights = content["data"]["weights"]
    return np.ones(len(DATA)) if weights is None else np.array(weights, float)


def assert_claims_only_what_is_true(content: dict, found) -> None:
    """Of a certificate that was not found wrong."""
    weights, good, space = true_weights(content), DATA.positive, content["space"]
    assert content["data"]["fingerprint"] == DATA.fingerprint
    assert content["data"]["cases"] == len(DATA)
    assert content["data"]["weight"] == pytest.approx(weights.sum())
    for row in [*content["front"], content["best"]]:
        formula = parse(row["formula"])
        wrong = verdicts(formula, DATA, space["direction"] == "future") != good
        assert row["error"] == pytest.approx(weights[wrong].sum(), abs=1e-5)
        assert row["misjudged"] == (wrong & (weights > 0)).sum()
        assert row["length"] == length(formula)
    best, said = content["best"]["error"], content["statement"]
    sides: dict[bytes, list[float]] = {}
    for trace, label, weight in zip(DATA.values, good, weights, strict=True):
        sides.setdefault(trace.tobytes(), [0.0, 0.0])[int(label)] += weight
    floor = sum(map(min, sides.values()))
    assert content["unavoidable"] == pytest.approx(floor, abs=1e-5)
    assert ("It makes none." in said) == (content["best"]["misjudged"] == 0 and content["certified"])
    if "Nor does any other rule" in said:
        assert best <= floor + 1e-5
    assert ("those of a grid" in said) == (space["thresholds"] == "grid")
    assert ("do not count." in said and "pass a limit" in said) == (
        space["max_misses"] is not None or space["max_false_alarms"] is not None
    )
    assert ("Traces count with weights" in said) == bool((weights != 1).any())
    if found.verdict == "not refuted":
        assert "stands" not in found.sentence
        assert "no proof" in found.sentence
        return
    certain = space["max_length"] if said.startswith("No formula of this space") else 0
    if said.startswith("No formula of length "):
        certain = int(said.split()[4])
    assert content["certain"] == certain
    assert content["certified"] == said.startswith("No formula of this space")
    if not certain:
        assert "Nothing is certain" in said
        assert found.verdict == "claims nothing"
        return
    assert found.stands
    assert found.looked_at > 0
    if best > floor + 1e-9:  # otherwise nothing can err less
        assert true_least(content, certain) >= best - 1e-5
    gone = max((row["length"] for row in content["lengths"]), default=0)
    for n in range(1, min(certain, gone) + 1) if found.whole else ():
        claimed = min((error for key, error in content["least"].items() if int(key) <= n), default=inf)
        assert claimed == pytest.approx(true_least(content, n), abs=1e-5), n


# Edits


def places(content, at=()):
    """Every path in a tree of JSON."""
    if at:
        yield at
    inside = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in inside:
        yield from places(value, (*at, key))


def changed_anywhere(content: dict, rng: random.Random) -> None:
    """One place in the file: another value, another kind, gone, twice, or taken from elsewhere."""
    everywhere = [path for path in places(content) if "thresholds" not in path[:-1] or rng.random() < 0.1]
    path = rng.choice(everywhere)
    holder = content
    for key in path[:-1]:
        holder = holder[key]
    key, value = path[-1], holder[path[-1]]
    kinds = ["value", "value", "value", "kind", "gone", "elsewhere", "more"]
    kind = rng.choice(kinds)
    numeric = isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind == "value" and numeric:
        holder[key] = rng.choice(
            [value + 1, value - 1, value * 2, 0, -value, nan, inf, -inf, 10**9, 10**400, value + 0.5, float(value),
             1e308, -1, 1, value + 1e-7]
        )  # fmt: skip
    elif kind == "value" and isinstance(value, bool):
        holder[key] = not value
    elif kind == "value" and isinstance(value, str):
        holder[key] = rng.choice([value + " And more.", value.upper(), "", "nan", value[: len(value) // 2], value * 2])
    elif kind == "kind":
        odd = ["nan", "40", None, [], {}, True, 0, nan, [value], {"x": value}, str(value), 1e400, [[[]]] * 3]
        holder[key] = rng.choice(odd)
    elif kind == "gone" and (isinstance(holder, dict) or len(holder)):
        del holder[key]
    elif kind == "elsewhere":
        other = content
        for step in rng.choice(everywhere):
            other = other[step]
        holder[key] = copy.deepcopy(other)
    elif isinstance(value, list) and value:
        value.append(copy.deepcopy(rng.choice(value)))
    elif isinstance(value, dict):
        value[rng.choice(["1", "2", "3", "more", "weights", "certified"])] = rng.choice([0, 40, True, "x", nan])
    else:
        holder[key] = None


def shaped(content: dict, rng: random.Random) -> None:
    """One thing that matters is changed."""
    space, data, least = content["space"], content["data"], content["least"]
    worse = content["front"][:-1]
    kind = rng.choice(
        ["least", "least", "drop best", "lie", "weights", "limits", "floor", "lengths", "dropped", "space", "atoms",
         "grid", "longer", "shorter", "exact", "formula", "template", "nothing"]
    )  # fmt: skip
    if kind == "least":
        by = rng.choice([-1, 1, 2, 0.5, -0.5, 40, nan])
        for key in least if rng.random() < 0.7 else list(least)[:1]:
            least[key] += by
    elif kind == "drop best" and worse:
        content["front"].pop()
        if rng.random() < 0.7:
            for key in [key for key in least if least[key] < worse[-1]["error"]]:
                del least[key]
    elif kind == "lie":
        row = rng.choice(content["front"])
        row["error"] += rng.choice([-1, 1, -2, 0.5])
        row["misjudged"] = max(0, row["misjudged"] + rng.choice([-1, 0, 1]))
    elif kind == "weights":
        scale = rng.choice([1.0, 1e-9, 0.5, 3.0, 1e6])
        chosen = [scale * rng.choice([0, 1, 1, 2]) for _ in range(len(DATA))]
        data["weights"] = rng.choice([chosen, None, [scale] * len(DATA), [nan] * len(DATA)])
    elif kind == "limits":
        space[rng.choice(["max_misses", "max_false_alarms"])] = rng.choice([None, 0.0, 0.1, 0.5, 1.0])
    elif kind == "floor":
        content["unavoidable"] = rng.choice([0.0, content["best"]["error"], content["unavoidable"] + 1])
    elif kind == "lengths":
        rows = content["lengths"]
        if rng.random() < 0.5 and rows:
            del rows[rng.randrange(len(rows)) :]
        else:
            rows.append(
                {"length": len(rows) + 1} | dict.fromkeys(("generated", "merged", "bounded", "scored", "dropped"), 0)
            )
    elif kind == "dropped" and content["lengths"]:
        rng.choice(content["lengths"])["dropped"] = rng.choice([0, 0, 5])
    elif kind == "space":
        name = rng.choice(["since", "negation", "next", "intervals", "every_gap", "differences"])
        space[name] = not space[name]
        if rng.random() < 0.3:
            space["direction"] = "past" if space["direction"] == "future" else "future"
    elif kind == "atoms" and space["atoms"]:
        rows = space["atoms"]
        row = rng.choice(rows)
        row["thresholds"] = row["thresholds"][: rng.randrange(len(row["thresholds"]))]
        if rng.random() < 0.5:
            rows.remove(row)
    elif kind == "grid":
        space["grid"], space["thresholds"] = rng.choice([1, 2, 3]), "grid"
    elif kind == "exact":
        space["grid"], space["thresholds"] = None, "exact"
    elif kind == "longer":
        space["max_length"] += rng.choice([1, 1, 60, 10**9])
    elif kind == "shorter":
        space["max_length"] = max(1, space["max_length"] - 1)
    elif kind == "formula":
        row = rng.choice(content["front"])
        row["formula"] = rng.choice(
            ["a >= 1", "G (a >= 0.5)", "F (b <= 1.5)", "O (a >= 1)", "?p", "G (a >= 0.5) -> b >= 1"]
        )
    elif kind == "template":
        space["template"] = rng.choice([None, "G ?p", "{G ?p; F ?q}", "F (a >= 1)", "G ?p & H ?q"])


def repaired(content: dict, rng: random.Random) -> None:
    """What a careful forger makes agree with a change: sums, conditions, windows, errors, flags, the statement."""
    space, data = content["space"], content["data"]
    weights = true_weights(content)
    if np.isfinite(weights).all():
        data["weight"] = float(weights.sum())
    if space["max_length"] <= 64 and rng.random() < 0.9:
        template = None if space["template"] is None else parse(space["template"])
        if template is not None:
            space["max_length"] = length(template)
        windows = (interval(1, 1),) if space["next"] and not space["intervals"] else ()
        known = ExactSpace(space["max_length"], template, True, False, windows, space["thresholds"], space["grid"] or 1,
                      space["every_gap"], space["differences"])  # fmt: skip
        from fernn.learners.enumerative.candidates import columns

        counted = DATA.subset(weights > 0) if (weights > 0).any() else DATA
        if not space["intervals"] and template is None:
            space["windows"] = [str(over) for over in windows]
        if rng.random() < 0.9:
            space["atoms"] = known.list_atoms(columns(counted, space["differences"]))
    if rng.random() < 0.7:
        for row in content["front"]:
            wrong = verdicts(parse(row["formula"]), DATA, space["direction"] == "future") != DATA.positive
            row |= {"error": round(float(weights[wrong].sum()), 9), "length": length(parse(row["formula"]))}
            row["misjudged"] = int((wrong & (weights > 0)).sum())
    if rng.random() < 0.5:  # the lengths that the statement needs
        counts = {"generated": 1, "merged": 0, "bounded": 0, "scored": 1, "dropped": 0}
        to = range(1, space["max_length"] + 1) if space["template"] is None else [space["max_length"]]
        content["lengths"] = [{"length": n, **counts} for n in to] if space["max_length"] <= 64 else content["lengths"]
    best = content["front"][-1]
    content["best"] = {**best, "share": best["error"] / data["weight"]}
    found = derive_outcome(content)
    to = min(found.certain, found.reached)
    content["least"] = {key: error for key, error in content["least"].items() if key.isdigit() and int(key) <= to}
    if rng.random() < 0.3:  # the least error said to be that of the front
        content["least"] = {str(row["length"]): row["error"] for row in content["front"] if row["length"] <= to}
    content |= {"certified": found.certified, "certain": found.certain, "statement": compose_statement(content)}


def forged(seed: int) -> dict:
    rng = random.Random(seed)
    content = json.loads(rng.choice(genuine()))
    if rng.random() < 0.5:
        for _ in range(rng.choice([1, 1, 2])):
            changed_anywhere(content, rng)
        return content
    try:
        for _ in range(rng.choice([1, 1, 2, 3])):
            shaped(content, rng)
        repaired(content, rng)
    except (fernn.errors.FernnError, ArithmeticError, ValueError, TypeError, LookupError):
        pass  # as far as it went
    return content


def test_true_certificates_claim_only_what_is_true():
    verdict = set()
    for text in genuine():
        content = json.loads(text)
        found = audit(Certificate.from_json(content), DATA)
        assert not found.problems
        verdict.add(found.verdict)
        assert_claims_only_what_is_true(content, found)
    assert "stands" in verdict


def test_no_edit_that_claims_more_than_is_true_passes():
    outcomes: dict[str, int] = {}
    for seed in range(COUNT):
        content = forged(seed)
        try:
            content = json.loads(json.dumps(content))
            found = audit(Certificate.from_json(content), DATA, samples=50)
        except DataError:  # and no other error
            outcomes["refused"] = outcomes.get("refused", 0) + 1
            continue
        outcomes[found.verdict] = outcomes.get(found.verdict, 0) + 1
        if not found.problems:
            try:
                assert_claims_only_what_is_true(content, found)
            except AssertionError as error:
                raise AssertionError(f"seed {seed}: {error}") from error
    assert sum(outcomes.values()) == COUNT
    print(outcomes)
    if COUNT >= 400:
        assert min(outcomes.get(kind, 0) for kind in ("refused", "wrong", "stands")) > COUNT / 50, outcomes


def forge(change) -> object:
    """The first genuine certificate with this change, given to the check; its verdict."""
    content = json.loads(genuine()[0])
    change(content)
    try:
        return audit(Certificate.from_json(json.loads(json.dumps(content))), DATA).verdict
    except DataError:
        return "refused"


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c.update(certain=0, least={"1": 40}),
        lambda c: c.update(lengths=[], unavoidable=0),
        lambda c: c.update(lengths=[], least={}, unavoidable=0),
        lambda c: c.update(least=dict.fromkeys(c["least"], nan)),
        lambda c: c.update(least=dict.fromkeys(c["least"], "nan")),
        lambda c: c["data"].update(weights=[nan] * len(DATA)),
        lambda c: c["data"].update(weights=[1e-9] * len(DATA), weight=1e-9 * len(DATA)),
        lambda c: c["space"].update(atoms=[]),
        lambda c: c.update(statement=c["statement"] + " It is the only one, on any data."),
        lambda c: c["space"].update(max_length=10**9),
        lambda c: c["space"].update(max_length=10**400),
        lambda c: c["space"].update(grid=10**12, thresholds="grid"),
        lambda c: c.update(warrant="absolute"),
        lambda c: c["space"].update(template=" & ".join(["{G ?p; F ?q; G F ?r}"] * 40)),
        lambda c: c["space"].update(template="(" * 100_000 + "a >= 1" + ")" * 100_000),
        lambda c: c.update(best={**c["best"], "share": 0.0}),
        lambda c: c["data"].update(cases=len(DATA) + 1),
    ],
)  # fmt: skip
def test_known_forgeries_do_not_pass(change):
    assert forge(lambda c: None) == "stands"
    assert forge(change) in ("refused", "wrong")


def test_a_check_of_a_space_too_large_is_no_proof():
    fit = Enumerative(max_length=6, grid=8, folds=0).fit(noisy(2, 40, 5, levels=9))
    found = audit(fit.certificate, noisy(2, 40, 5, levels=9), samples=40)
    assert found.verdict == "not refuted"
    assert not found.stands
    assert f"spot-checked 40 formulas of about {found.size:.3g}: no counterexample" in found.sentence


def test_a_claim_about_the_longest_lengths_is_bounded_work():
    content = json.loads(genuine()[0])
    content["space"]["max_length"] = 64
    counts = {"generated": 0, "merged": 0, "bounded": 0, "scored": 0, "dropped": 0}
    content["lengths"] = [{"length": n, **counts} for n in range(1, 65)]
    content |= {"certain": 64, "statement": compose_statement(content)}
    found = audit(Certificate.from_json(content), DATA, samples=20)
    assert found.verdict in ("wrong", "not refuted")
    assert found.looked_at <= 20


def test_the_statement_of_a_changed_file_is_not_repeated():
    content = json.loads(genuine()[0])
    content["statement"] = "This rule is right about everything."
    assert "everything" not in Certificate.from_json(content).statement
