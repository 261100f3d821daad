"""What is drawn of many samples and many traces leaves no extreme out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fernn import parse, satisfied
from fernn.data import from_arrays
from fernn.report.downsample import decimate, envelope, quantiles, spread_out
from fernn.report.plots.style import percent, shorten, wrap_text

rows = st.integers(0, 2**32 - 1).map(np.random.default_rng)


@given(rows, st.integers(1, 3000), st.integers(1, 60))
@settings(deadline=None)
def test_decimation_keeps_ends_extremes_and_order(random, samples, bins):
    values = random.normal(size=samples).round(1)
    kept = decimate(values, bins)
    assert len(kept) <= 2 * bins + 2
    assert (np.diff(kept) > 0).all()
    assert (kept[0], kept[-1]) == (0, samples - 1)
    assert (values[kept].min(), values[kept].max()) == (values.min(), values.max())


@given(rows, st.integers(2, 40), st.integers(3, 30))
@settings(deadline=None)
def test_no_peak_moves_by_more_than_a_bin(random, bins, wide):
    values = np.zeros(bins * wide)
    peak = int(random.integers(len(values)))
    values[peak] = 1.0
    kept = decimate(values, bins)
    assert kept[values[kept] == 1.0].tolist() == [peak]


@given(rows, st.integers(1, 2000), st.integers(1, 50))
@settings(deadline=None)
def test_a_thinned_band_holds_all_of_the_band(random, samples, bins):
    low = random.normal(size=samples)
    high = low + random.random(samples)
    at, under, over = envelope(low, high, bins)
    everywhere = np.arange(samples)
    assert len(at) <= 2 * bins
    assert (np.interp(everywhere, at, under) <= low).all()
    assert (np.interp(everywhere, at, over) >= high).all()


@given(rows, st.lists(st.integers(1, 12), min_size=1, max_size=9), st.booleans())
@settings(deadline=None)
def test_quantiles_are_those_of_the_traces_that_are_there(random, lengths, from_end):
    values = [random.normal(size=n) for n in lengths]
    got = quantiles(values, (0.05, 0.5, 0.95), from_end)
    turned = [row[::-1] for row in values] if from_end else values
    for t in range(max(lengths)):
        wanted = np.quantile([row[t] for row in turned if len(row) > t], (0.05, 0.5, 0.95))
        np.testing.assert_allclose(got[:, ::-1][:, t] if from_end else got[:, t], wanted, atol=1e-12)


def test_large_classes_are_sorted_in_parts(monkeypatch):
    values = list(np.random.default_rng(0).normal(size=(30, 100)))
    whole = quantiles(values, (0.05, 0.5))
    monkeypatch.setattr("fernn.report.downsample.BLOCK", 200)
    np.testing.assert_array_equal(quantiles(values, (0.05, 0.5)), whole)


def test_a_sample_of_traces_goes_evenly_from_first_to_last():
    assert spread_out(np.arange(100), 4).tolist() == [0, 33, 66, 99]
    assert spread_out(np.arange(3), 4).tolist() == [0, 1, 2]


def test_thresholds_have_the_digits_that_the_verdicts_need():
    data = from_arrays([[39.80001], [39.80004], [50.0]], [1, 0, 0])
    fine = parse("G (x <= 39.800023456)")
    assert str(shorten(fine, data)) == "G (x <= 39.80002)"
    assert satisfied(shorten(fine, data), data).tolist() == [True, False, False]
    assert str(shorten(parse("G (x <= 45.123456)"), data)) == "G (x <= 45.1)"
    assert str(shorten(parse("true"), data)) == "true"


def test_long_rules_are_broken_between_their_parts():
    text = "rule: G[0,10] (speed >= -10 & brake <= 0.3) & F (speed_diff >= 0.01)"
    lines = wrap_text(text, 40).split("\n")
    assert lines == ["rule: G[0,10] (speed >= -10 &", "    brake <= 0.3) &", "    F (speed_diff >= 0.01)"]


@pytest.mark.parametrize(
    ("rate", "text"), [(0, "0%"), (0.032, "3.2%"), (0.05, "5%"), (0.0002, "0.02%"), (1, "100%"), (0.9996, "100%")]
)
def test_errors_are_percent(rate, text):
    assert percent(rate) == text
