"""Whatever is asked, the studio answers in words: no request makes it fail, hang or forget its cookie."""

from __future__ import annotations

import http.client
import json
from math import inf, nan
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from served import PATIENT, Served

from fernn.formula import parse
from fernn.learners import Entry, Fit, Front
from fernn.runs import Run, plan

ROUTES = [
    ("GET", "/api/hello"), ("GET", "/api/files"), ("POST", "/api/files"), ("POST", "/api/files/{file}/look"),
    ("GET", "/api/data/{data}/traces"), ("POST", "/api/data/{data}/read"), ("POST", "/api/data/{data}/lanes"),
    ("POST", "/api/data/{data}/sensitivity"), ("POST", "/api/data/{data}/differ"), ("POST", "/api/data/{data}/equiv"),
    ("POST", "/api/jobs"),
    ("GET", "/api/jobs"), ("GET", "/api/jobs/{run}"), ("POST", "/api/jobs/{run}/stop"), ("GET", "/api/runs"),
    ("GET", "/api/runs/{run}"), ("GET", "/api/runs/{run}/rivals"), ("GET", "/api/runs/{run}/report"),
    ("POST", "/api/address"),
    ("POST", "/api/export"), ("GET", "/{page}"), ("DELETE", "/api/files"), ("PUT", "/api/runs/{run}"), ("OPTIONS", "/"),
]  # fmt: skip
ATOMS = st.sampled_from(["v <= 3", "w > 25", "v + w >= 1", "2*v - w < 1e300", "true", "x <= 1", "?p", "-v >= -1e-320"])
FORMULAS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.builds("{} ({})".format, st.sampled_from(["G", "F", "H", "O", "!", "G[2,9]", "F[0,0]"]), inner),
        st.builds("{} ({})".format, st.sampled_from(["O[3,99999999999]", "H[0,1e9]", "G[1.5,2]"]), inner),
        st.builds("{} ({})".format, st.sampled_from(["G[1,2]u[5,inf]", "H[7,inf]", "F[?w]", "X", "G[3,1]"]), inner),
        st.builds("({}) {} ({})".format, inner, st.sampled_from(["&", "|", "->", "U", "S", "U[1,4]", "?{&,U}"]), inner),
    ),
    max_leaves=12,
)  # fmt: skip
WORDS = st.one_of(
    st.text(max_size=40), FORMULAS, st.text("()[]{}?GFUS&|!<>=.0123456789vw \"\\", max_size=80),
    st.sampled_from([
        "(" * 10_000, "!" * 10_000, "G" * 3000, "v <= 1 & " * 220 + "v <= 1", "(" * 149 + "v<=1" + ")" * 149, "\0",
        "(" * 40 + "v>0" + ("&v>0" * 10 + ")") * 40, "\ud800", "v <= 1e999", "v <= " + "9" * 1500, '"' + "\\" * 1000,
        "{v<=1;" * 60 + "v<=1" + "}" * 60, "?{&,|}".join(["v<=1"] * 100), "__import__('os').system('true')", "../..",
        "v" + "+v" * 900 + " <= 1", "G[0,1]" + "u[3,4]" * 300 + " (v <= 1)", "text", "c", "rtamt", "drive-1", "cruise",
    ]),
)  # fmt: skip
NUMBERS = st.one_of(st.integers(), st.floats(), st.sampled_from([0, 1, -1, 10**30, 1e308, 10**400]))
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, WORDS),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
NAMES = st.sampled_from([
    "formula", "thresholds", "run", "case", "a", "b", "to", "file", "reading", "method", "settings", "test", "label",
    "channels", "good", "layout", "delimiter", "header", "encoding", "dt", "unit", "steps", "nonfinite", "group",
    "time",
])  # fmt: skip
BODIES = st.one_of(
    st.builds(json.dumps, st.dictionaries(NAMES, VALUES, max_size=6)).map(str.encode),
    st.builds(lambda f, more: json.dumps({"formula": f, "a": f, "b": f, **more}).encode(), WORDS,
              st.dictionaries(NAMES, VALUES, max_size=2)),
    st.builds(lambda f: json.dumps({"formula": f, "a": f, "b": "G (v <= 3)", "case": 1, "to": "c"}).encode(), FORMULAS),
    st.builds(json.dumps, VALUES).map(str.encode), st.binary(max_size=200),
    st.sampled_from([
        b"[" * 100_000, b'{"a":' * 50_000, b"NaN", b'{"case":NaN}', b"{" + b" " * 999_000,
        b'"' + b"x" * 2_000_000 + b'"',
        b'{"case":' + b"9" * 5000 + b"}", b"\xff\xfe{}", b"", b"null", b'{"formula":"\\ud800"}',
    ]),
)  # fmt: skip
PARTS = st.one_of(
    st.text(min_size=1, max_size=20), st.sampled_from(["FILE", "DATA", "DATA", "FILE~bm9uZQ", "FILE~e30", "FILE~W10",
    "..",
    "%2e%2e", "cruise", "uploads", "mine", "%00", "%ff", "drive-1", "FILE~" + "A" * 3000, "index.html", "a%2fb", "?",
    "#"]),
)  # fmt: skip


LABELS = st.sampled_from(["label", "", None, "v", "time", "case", "first", "none", "x" * 900, "\t", 3])
OPTIONS = st.fixed_dictionaries({}, optional={
    "label": LABELS, "channels": st.lists(st.sampled_from(["v", "w", "label", "case", "", "x"]), max_size=3),
    "good": st.sampled_from(["good", "bad", "ugly", 1, True, None]), "time": LABELS, "case": LABELS, "group": LABELS,
    "layout": st.sampled_from(["tidy", "wide", "auto", ""]), "header": st.sampled_from([True, False, None, 0]),
    "delimiter": st.sampled_from([",", ";", " ", "\t", '"', "v", "\\", "\n", "é"]), "decimal": st.sampled_from([",",
    "."]),
    "encoding": st.sampled_from(["utf-8", "utf-16", "utf-7", "cp037", "hz", "rot13", "hex", "mbcs", "undefined",
    "idna"]),
    "nonfinite": st.sampled_from(["hold", "drop_case"]), "bad_rows": st.sampled_from(["skip", "error"]),
    "dt": st.sampled_from([0, 1, 1e-320, 1e308, -1, None]), "unit": st.text(max_size=4), "steps": st.booleans(),
    "label_kind": st.sampled_from(["real", "class", "auto"]), "memory_limit": st.sampled_from([1, 10**9, None]),
})  # fmt: skip
SETTINGS = st.dictionaries(
    st.sampled_from(
        ["max_length", "template", "seed", "time_limit", "restarts", "guesses", "atoms", "class_weight", "x"]
    ),
    VALUES,
    max_size=2,
)
DEEP = st.one_of(
    st.tuples(st.just("/api/files/FILE/look"), OPTIONS),
    st.tuples(
        st.sampled_from(["read", "lanes", "sensitivity", "differ", "equiv"]).map("/api/data/DATA/{}".format),
        st.builds(
            lambda formula, more: {"formula": formula, "a": formula, "b": formula, "case": 3, **more},
            st.one_of(FORMULAS, WORDS),
            st.fixed_dictionaries({}, optional={
                "thresholds": st.lists(NUMBERS, max_size=3), "run": st.sampled_from(["mine", "none", 3]),
                "case": NUMBERS, "length": st.integers(-1, 4) | NUMBERS,
            }),
        ),
    ),
    st.tuples(
        st.just("/api/jobs"),
        st.fixed_dictionaries({"file": st.just("FILE")}, optional={
            "settings": SETTINGS, "reading": OPTIONS, "test": NUMBERS,
            "method": st.sampled_from(["fernn", "enumerative", "lattice", "tree", "maxsat", "paper", "none"]),
        }),
    ),
    st.tuples(
        st.just("/api/export"),
        st.fixed_dictionaries({
            "formula": FORMULAS, "to": st.sampled_from(["text", "latex", "c", "python", "rtamt", "breach", "json"]),
        }),
    ),
)  # fmt: skip
MANY: dict = {"deadline": None, "suppress_health_check": list(HealthCheck), "derandomize": True}


@pytest.fixture(scope="module")
def target(tmp_path_factory):
    """A studio with a file and a run, in which no process is begun."""
    served = Served(tmp_path_factory.mktemp("hostile") / "runs")
    served.studio.jobs.most = 0
    served.file = served.upload()
    served.word = served.look(served.file)["data"]
    known = served.studio.datasets.data(served.word).data
    path = served.studio.files.find(served.file).path
    run = Run.create(served.studio.folder / "mine", plan(path, {}), known)
    run.finish(Fit(Front((Entry(parse("G (v <= 27)"), 2, 0.0, nan, nan, inf),), 0), 1.0, "done", {}))
    served.line = http.client.HTTPConnection("127.0.0.1", served.port, timeout=PATIENT)
    yield served
    served.line.close()
    served.close()


def asked(served, method, path, body, headers=()):
    """Sent as it is: no client tidies it up. A connection that lay idle too long was ended, which calls for a new one;
    one that ends on a request ends again on its repetition."""
    try:
        return sent(served, method, path, body, headers)
    except (ConnectionError, http.client.CannotSendRequest):
        served.line.close()
        return sent(served, method, path, body, headers)


def sent(served, method, path, body, headers):
    served.line.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in (
        ("Host", f"127.0.0.1:{served.port}"), ("Cookie", f"fernn-{served.port}={served.session}"), ("X-Fernn", "1"),
        ("Content-Length", str(len(body))), *headers,
    ):  # fmt: skip
        served.line.putheader(name, value)
    served.line.endheaders(body)
    answer = served.line.getresponse()
    return answer, answer.read()


def quoted(text):
    """Percent signs stay as they are: what is written with them is part of the attack."""
    return quote(text.encode("utf-8", "replace").decode(), safe="%~?#")


@pytest.mark.slow
@settings(max_examples=1500, **MANY)
@given(st.sampled_from(ROUTES), PARTS, BODIES, st.text(max_size=10))
def test_every_route_answers_whatever_comes_in_words(target, route, part, body, query):
    method, path = route
    part = part.replace("FILE", target.file).replace("DATA", target.word)
    for name in ("{file}", "{data}", "{run}", "{page}"):
        path = path.replace(name, quoted(part))
    if path == "/api/files":
        path += f"?name={quoted(query)}&name=x"
    answer, text = asked(target, method, path, body)
    assert answer.status < 500, (path, body[:500], text[:500])
    if answer.status >= 400:
        assert json.loads(text)["error"]


@pytest.mark.slow
@settings(max_examples=1500, **MANY)
@given(DEEP)
def test_what_is_nearly_right_is_answered_in_words_too(target, request):
    path, body = request
    body = json.dumps(body).replace('"FILE"', f'"{target.file}"').encode()
    answer, text = asked(target, "POST", path.replace("FILE", target.file).replace("DATA", target.word), body)
    assert answer.status < 500, (path, body[:500], text[:500])
    assert answer.status == 200 or json.loads(text)["error"]


@pytest.mark.parametrize("field", ["formula", "a"])
@settings(max_examples=300, **MANY)
@given(formula=WORDS)
def test_every_formula_is_read_or_refused_with_its_place(target, field, formula):
    path = f"/api/data/{target.word}/{'read' if field == 'formula' else 'differ'}"
    body = json.dumps({field: formula, "b": "G (v <= 3)"}).encode()
    answer, text = asked(target, "POST", path, body)
    assert answer.status in (200, 400), (formula[:300], text[:300])
    found = json.loads(text)
    if answer.status == 400:
        assert found["error"]
        assert 0 <= found.get("at", 0) <= len(formula)


@pytest.mark.parametrize("name", ["Host", "Cookie", "Origin", "X-Fernn", "Content-Type", "Transfer-Encoding", "Range"])
@settings(max_examples=20, **MANY)
@given(value=st.text(st.characters(min_codepoint=33, max_codepoint=255), max_size=50))
def test_no_header_makes_it_fail(target, name, value):
    line = http.client.HTTPConnection("127.0.0.1", target.port, timeout=PATIENT)
    line.putrequest("GET", "/api/hello")
    line.putheader(name, value.encode("latin-1"))
    line.endheaders()
    assert line.getresponse().status < 500
    line.close()


def test_after_all_of_it_a_formula_is_still_read(target):
    body = json.dumps({"formula": "G (v <= 27)"}).encode()
    answer, text = asked(target, "POST", f"/api/data/{target.word}/read", body)
    assert answer.status == 200
    assert json.loads(text)["error"]["all"] == 0
