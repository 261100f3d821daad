"""Random datasets: any names, equal or unequal lengths, every kind of label."""

import numpy as np
from hypothesis import strategies as st

from fernn.data import Dataset

names = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cf", "Zl", "Zp"]), min_size=1, max_size=5)
names = names.map(lambda s: " ".join(s.split())).filter(lambda s: s and s.isprintable())
numbers = st.floats(-1e300, 1e300)


@st.composite
def datasets(draw, max_cases=6, few_values=False):
    """`few_values` makes copies likely."""
    values = st.integers(0, 1).map(float) if few_values else numbers
    n = draw(st.integers(1, max_cases))
    channels = draw(st.lists(names, min_size=1, max_size=1 if few_values else 3, unique=True))
    spans = draw(
        st.one_of(st.integers(1, 3).map(lambda t: [t] * n), st.lists(st.integers(1, 3), min_size=n, max_size=n))
    )
    traces = tuple(
        np.array(draw(st.lists(values, min_size=t * len(channels), max_size=t * len(channels)))).reshape(-1, t)
        for t in spans
    )
    kind = draw(st.sampled_from(["class", "class", "real", "none"]))
    classes = tuple(draw(st.lists(names, min_size=1, max_size=3, unique=True))) if kind == "class" else ()
    labels = None
    if kind == "class":
        labels = np.array(draw(st.lists(st.integers(0, len(classes) - 1), min_size=n, max_size=n)))
    elif kind == "real":
        labels = np.array(draw(st.lists(numbers, min_size=n, max_size=n)))
    return Dataset(
        traces,
        labels,
        classes,
        tuple(channels),
        dt=draw(st.none() | st.floats(1e-3, 1e3)),
        time_unit=draw(st.none() | names),
        cases=tuple(draw(st.lists(names, min_size=n, max_size=n, unique=True))),
        groups=draw(st.none() | st.lists(names, min_size=n, max_size=n).map(tuple)),
        name=draw(names),
    )
