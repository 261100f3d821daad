"""The measurements as docs/scale.md, a picture, and a part of docs/benchmarks.md."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from fernn.compare.markdown import table

from ..heading import Aim, heading
from ..store import Found, Store
from . import growth, workers

ROOT = Path(__file__).resolve().parents[2]
PICTURE = ROOT / "docs" / "images" / "scale.png"
PLAIN = ROOT / "bench" / "scale.json"
CARD = ROOT / "bench" / "scale"
LINEAR = 1.1
"""The exponent that counts as linear."""
SAID = {
    "judge": "judge", "copy": "copy of the same bytes", "fernn": "a round of FERNN", "exact": "exact search",
    "tree": "tree", "lattice": "lattice",
}  # fmt: skip


def page(store: Store) -> str:
    drawn(store.found("growth"))
    return "\n\n".join(_sections(store)) + "\n"


def section() -> str:
    """For docs/benchmarks.md: the exponents and the picture; nothing where nothing was measured."""
    if not PLAIN.is_file():
        return ""
    found: dict[str, Found] = json.loads(PLAIN.read_text())["parts"].get("growth", {})
    return "\n\n".join(["## How cost grows", *_growth(found, "images/scale.png")]) if found else ""


def _sections(store: Store) -> Iterator[str]:
    yield from heading("How cost grows", "bench-scale", store, _aims(store))
    yield "## Time against size"
    yield from _growth(store.found("growth"), "images/scale.png")
    yield _sizes(store.found("growth"))
    yield "## Workers"
    yield (
        "The same work with one worker and with two, each on one core: sixteen fits of the exact search to bootstraps "
        "of 1000 x 100, and four rounds of FERNN on 2000 x 200, of which only restarts are sent."
    )
    found = store.found("workers")
    rows = [
        [each, f"{found[f'{each} 1']['seconds']:.2f}", f"{found[f'{each} 2']['seconds']:.2f}", f"{gain:.2f}"]
        for each, gain in workers.gains(found).items()
    ]
    yield table(["engine and work", "one worker, s", "two, s", "times"], rows)
    yield (Path(__file__).parent / "paper.md").read_text().strip()


def _aims(store: Store) -> Iterator[Aim]:
    found = store.found("growth")
    for axis in ("traces", "samples"):
        slopes = {job: growth.exponent(*_line(found, job, axis)) for job in SAID if _line(found, job, axis)[0]}
        slopes.pop("copy", None)
        if slopes:
            worst = max(slopes, key=lambda job: slopes[job][0])
            yield Aim(
                f"exponent of time in {axis}, over all sizes, worst of {len(slopes)} jobs", f"at most {LINEAR}",
                f"{slopes[worst][0]:.2f} ({SAID[worst]})", slopes[worst][0] <= LINEAR,
            )  # fmt: skip
    gains = workers.gains(store.found("workers"))
    for work in workers.WORKS:
        mine = {each: gain for each, gain in gains.items() if each.endswith(work)}
        if mine:
            least = min(mine, key=lambda each: mine[each])
            yield Aim(
                f"two workers against one, {work}, least", "1.7", f"{mine[least]:.2f} ({least})", mine[least] >= 1.7
            )


def _line(found: dict[str, Found], job: str, axis: str) -> tuple[list[int], list[float]]:
    mine = {int(unit.split()[2]): each["seconds"] for unit, each in found.items() if unit.startswith(f"{job} {axis} ")}
    return sorted(mine), [mine[size] for size in sorted(mine)]


def _growth(found: dict[str, Found], picture: str) -> Iterator[str]:
    yield (
        "Time grows like size to the power of the exponent: 1 is linear. Fitted over all sizes, and in parentheses "
        "over the last three, where fixed costs no longer hide anything."
    )
    rows = []
    for job, said in SAID.items():
        cells = []
        for axis in growth.AXES:
            sizes, values = _line(found, job, axis)
            if len(sizes) < 3:
                cells.append("")
            else:
                over_all, last = growth.exponent(sizes, values)
                cells.append(f"{over_all:.2f} ({last:.2f})")
        rows.append([said, *cells])
    yield table(["", *growth.AXES], rows)
    yield f"![time against size, both logarithmic]({picture})"


def _sizes(found: dict[str, Found]) -> str:
    """The smallest and the largest of each."""
    rows = []
    for job, said in SAID.items():
        for axis in growth.JOBS[job]:
            sizes, values = _line(found, job, axis)
            if sizes:
                peak = found[f"{job} {axis} {sizes[-1]}"]["peak"] / 1e6
                rows.append(
                    [
                        said,
                        axis,
                        f"{sizes[0]:,}",
                        f"{values[0]:.4g}",
                        f"{sizes[-1]:,}",
                        f"{values[-1]:.4g}",
                        f"{peak:,.0f}",
                    ]
                )
    return table(["", "", "from", "s", "to", "s", "MB there"], rows)


def drawn(found: dict[str, Found]) -> None:
    """All lines, an axis a panel, the copy dashed."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 3.2), layout="constrained")
    panels = figure.subplots(1, len(growth.AXES), sharey=True)
    for panel, axis in zip(panels, growth.AXES, strict=True):
        for job, said in SAID.items():
            sizes, values = _line(found, job, axis)
            if sizes:
                style = {"ls": "--", "color": "0.5"} if job == "copy" else {"marker": "o", "ms": 3}
                panel.plot(sizes, values, label=said, **style)
        panel.set_yscale("log")
        panel.set_xscale("linear" if axis == "length" else "log")
        panel.set_xlabel(axis)
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("seconds")
    panels[0].legend(fontsize=7)
    figure.savefig(PICTURE, dpi=110)
