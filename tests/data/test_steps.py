"""Changes from sample to sample as channels."""

import numpy as np
import pytest

from fernn.data import from_arrays, read, with_steps
from fernn.errors import DataError


def test_a_step_is_the_value_less_the_one_before(file):
    data = with_steps(from_arrays([[[1.0, 4.0, 2.0]], [[5.0]]], channels=["v"]))
    assert data.channels == ("v", "v_diff")
    assert [trace.tolist() for trace in data.values] == [[[1, 4, 2], [0, 3, -2]], [[5], [0]]]
    even = with_steps(from_arrays(np.arange(12.0).reshape(2, 2, 3), channels=["a", "b"]))
    assert even.values[1].tolist() == [[6, 7, 8], [9, 10, 11], [0, 1, 1], [0, 1, 1]]
    text = "case,time,v,label\na,0,1,good\na,1,3,good\nb,0,2,bad\nb,1,2,bad\n"
    assert read(file("x.csv", text), steps=True, quiet=True).values[0].tolist() == [[1, 3], [0, 2]]


def test_a_name_that_is_taken_is_told():
    with pytest.raises(DataError, match="has a channel 'v_diff' already"):
        with_steps(from_arrays(np.zeros((1, 2, 3)), channels=["v", "v_diff"]))
