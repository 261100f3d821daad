"""Asking finds the rule that the person has in mind, with traces that really tell rules apart."""

import numpy as np
import pytest
from bench.planted import plant_formula
from hypothesis import given, settings
from hypothesis import strategies as st

import fernn
from brute import noisy
from fernn.data import from_arrays
from fernn.errors import DataError, UnsupportedError
from fernn.mining import QueryAnswer, QuerySession, ask
from fernn.mining.queries import ChannelValues, differing_samples, separate
from strategies import FUTURE, PAST, formulas

RULES = [
    fernn.parse(text)
    for text in (
        "G (a <= 1.5)", "G (a <= 0.5)", "F (b >= 0.5)", "G (a <= 1.5 | b >= 0.5)", "a <= 1.5 U b >= 0.5",
        "F[2,4] (a >= 0.5)", "G[0,1] (b <= 1.5)", "F (a >= 0.5 & b >= 0.5)",
    )
]  # fmt: skip


def meant(rule, channels=("a", "b")):
    """A person who has this rule in mind."""
    return lambda question: bool(fernn.satisfied(rule, question.trace[None], channels)[0])


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_the_rule_that_is_meant_is_found(rule):
    asked = ask(RULES, noisy(1), meant(rule))
    assert asked.left == (rule,)
    assert (asked.ended, asked.is_proved, asked.disagreements) == ("decided", True, 0)
    assert len(asked.transcript) <= 5
    for each in asked.transcript:
        assert each.question.good
        assert each.question.bad
        assert all(meant(f)(each.question) for f in each.question.good)
        assert not any(meant(f)(each.question) for f in each.question.bad)


@pytest.mark.filterwarnings("ignore::fernn.FernnWarning")
@settings(max_examples=60, deadline=None)
@given(st.data(), st.sampled_from([PAST, FUTURE]), st.integers(0, 20))
def test_a_made_trace_satisfies_one_and_not_the_other(data, operators, seed):
    f, g = data.draw(formulas(operators, 4)), data.draw(formulas(operators, 4))
    traces = noisy(seed).select(["a", "b"])
    renamed = from_arrays(traces.values, [1, 0] * 12, ["x", "y"], classes=["bad", "good"])
    trace = separate(np.array(renamed.values[0]), f, g, ChannelValues.of(renamed))
    if trace is not None:
        assert bool(fernn.satisfied(f, trace[None], ["x", "y"])[0])
        assert not bool(fernn.satisfied(g, trace[None], ["x", "y"])[0])
        assert all(trace[at] != renamed.values[0][at] for at in differing_samples(trace, renamed.values[0]))


def test_simple_rules_are_told_apart_by_one_sample():
    data = plant_formula(3, cases=50).train
    name = data.channels[0]
    f, g = (fernn.parse(f'G ("{name}" <= {level})') for level in (0.6, 0.9))
    asked = QuerySession([f, g], data).next()
    assert asked is not None
    assert asked.is_made
    assert len(asked.changed) == 1


def test_recorded_traces_come_first():
    data = noisy(1)
    pool = from_arrays([[[2, 0, 0], [0, 0, 0]], [[0, 0, 0], [0, 0, 0]]], channels=["a", "b"])
    rules = [fernn.parse("G (a <= 1.5)"), fernn.parse("G (b <= 1.5)")]
    question = QuerySession(rules, data, pool).next()
    assert question is not None
    assert (question.is_made, question.origin) == (False, pool.cases[0])


def test_answers_that_no_rule_agrees_with_leave_the_nearest():
    pool = from_arrays([[[2, 0], [0, 0]], [[0, 0], [2, 0]], [[2, 0], [2, 0]]], channels=["a", "b"])
    rules = [fernn.parse("F (a >= 1)"), fernn.parse("F (b >= 1)")]
    session = QuerySession(rules, noisy(1), pool)
    question = session.next()
    assert question is not None
    session.take(question, False)
    assert len(session.left) == 1
    asked = QuerySession(rules, noisy(1), pool, [*session.answers, QueryAnswer(session.answers[0].question, True)])
    assert asked.result("stopped").disagreements == 1
    assert len(asked.left) == 2


def test_cannot_say_asks_something_else_and_ctrl_c_keeps_what_is_known():
    seen = []

    def answer(question):
        seen.append(question.trace)
        if len(seen) == 3:
            raise KeyboardInterrupt
        return None

    asked = ask(RULES, noisy(1), answer)
    assert asked.ended == "stopped"
    assert len(asked.transcript) == 2
    assert set(asked.left) == set(RULES)
    assert not np.array_equal(seen[0], seen[1])


def test_answers_go_on_and_are_taken_back():
    data = noisy(1)
    first = ask(RULES, data, meant(RULES[3]), most=1)
    kept = [QueryAnswer.from_json(each.to_json()) for each in first.transcript]
    assert np.array_equal(kept[0].question.trace, first.transcript[0].question.trace)
    second = ask(RULES, data, meant(RULES[3]), answers=kept)
    assert second.left == (RULES[3],)
    session = QuerySession(RULES, data, answers=kept)
    fewer = len(session.left)
    session.take_back()
    assert len(session.left) == len(RULES) > fewer


def test_a_slip_is_taken_back_while_asking():
    right = meant(RULES[3])
    replies = iter([lambda question: not right(question), lambda question: "back"])
    asked = ask(RULES, noisy(1), lambda question: next(replies, right)(question))
    assert asked.left == (RULES[3],)
    assert asked.disagreements == 0
    assert all(each.answer == right(each.question) for each in asked.transcript)


def test_only_the_word_back_takes_an_answer_back():
    session = QuerySession(RULES, noisy(1))
    replies = iter([False, "good"])
    with pytest.raises(UnsupportedError, match=r"True for good.*'back'; got 'good' for question 2"):
        session.run(lambda question: next(replies))
    assert [each.answer for each in session.answers] == [False]


def test_with_nothing_to_take_back_the_question_is_asked_again():
    seen = []
    asked = ask(RULES, noisy(1), lambda question: seen.append(question.trace) or "back", most=3)
    assert (asked.ended, asked.transcript) == ("stopped", ())
    assert len(seen) == 3
    assert np.array_equal(seen[0], seen[2])


def test_the_last_question_allowed_may_decide():
    rules = [fernn.parse("G (a <= 1.5)"), fernn.parse("G (b <= 1.5)")]
    assert ask(rules, noisy(1), meant(rules[0]), most=1).ended == "decided"
    assert ask(rules, noisy(1), meant(rules[0]), most=0).ended == "stopped"


def test_judged_traces_can_be_learned_from():
    data = noisy(1)
    asked = ask(RULES, data, meant(RULES[2]))
    judged = asked.traces(data)
    assert judged is not None
    assert judged.classes == data.classes
    assert fernn.score(RULES[2], judged).mcr == 0


def test_rules_that_say_the_same_are_proved_to():
    pytest.importorskip("z3", reason="the proof needs z3")
    rules = [fernn.parse("G (a <= 1.5)"), fernn.parse("!F (a > 1.5)")]
    asked = ask(rules, noisy(1), meant(rules[0]))
    assert (asked.ended, asked.is_proved, len(asked.transcript)) == ("decided", True, 0)


@pytest.mark.parametrize(
    ("rules", "error", "says"),
    [
        ([], UnsupportedError, "no formula"),
        ([fernn.parse("F O (a >= 1)")], UnsupportedError, "both"),
        ([fernn.parse("F (c >= 1)")], DataError, "'c'"),
    ],
)
def test_what_cannot_be_asked_is_refused(rules, error, says):
    with pytest.raises(error, match=says):
        QuerySession(rules, noisy(1))


def test_a_switch_is_only_set_to_values_that_it_has():
    random = np.random.default_rng(0)
    data = from_arrays(
        random.integers(0, 2, (20, 2, 6)).astype(float), [0, 1] * 10, ["a", "b"], classes=["bad", "good"]
    )
    rules = [fernn.parse(text) for text in ("F (a >= 0.5)", "G (b >= 0.5)", "(a >= 0.5) U (b >= 0.5)")]
    asked = ask(rules, data, meant(rules[2]))
    assert asked.left == (rules[2],)
    assert all(np.isin(each.question.trace, (0, 1)).all() for each in asked.transcript)


def test_what_differs_on_one_of_the_recorded_lengths_is_not_proved_the_same():
    pytest.importorskip("z3", reason="the proof needs z3")
    random = np.random.default_rng(0)
    X = [random.normal(size=(1, 3)) for _ in range(9)] + [random.normal(size=(1, 10)) + 5]
    data = from_arrays(X, [0, 1] * 5, ["a"], classes=["bad", "good"])
    rules = [fernn.parse("F[0,4] (a >= 0.5)"), fernn.parse("F[0,8] (a >= 0.5)")]
    asked = ask(rules, data, meant(rules[1], ["a"]))
    assert asked.left == (rules[1],)


def test_what_was_proved_is_not_after_an_answer_is_taken_back():
    session = QuerySession(RULES, noisy(1))
    question = session.next()
    session.take(question, True)
    session.is_proved = True
    session.take_back()
    assert not session.result("stopped").is_proved
