"""The measurements as docs/scale.md, a picture, and a part of docs/benchmarks.md."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from fernn.evaluation.comparison import markdown_table

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
    more = "Sizes, memory, workers, streams and cards are in [scale.md](scale.md)."
    return "\n\n".join(["## How cost grows", *_growth(found, "images/scale.png"), more]) if found else ""


def _sections(store: Store) -> Iterator[str]:
    yield from heading("How cost grows", "bench-scale", store, _aims(store))
    yield "## Time against size"
    yield from _growth(store.found("growth"), "images/scale.png")
    yield _sizes(store.found("growth"))
    yield "## Workers"
    yield (
        "The same work with one worker and with two, each on one core: sixteen fits of the exact search to bootstraps "
        "of 1000 x 100, and twelve rounds of FERNN on 2000 x 200, of which only restarts are sent. With one worker a "
        "unit is sent when the last one is back; with two, the next ones are there already. So two can gain more than "
        "twice."
    )
    found = store.found("workers")
    rows = [
        [each, f"{found[f'{each} 1']['seconds']:.2f}", f"{found[f'{each} 2']['seconds']:.2f}", f"{gain:.2f}"]
        for each, gain in workers.gains(found).items()
    ]
    yield markdown_table(["engine and work", "one worker, s", "two, s", "times"], rows)
    yield from _streams()
    yield from _exact_card()
    yield from _fernn_card()
    yield (CARD / "paper.md").read_text().strip()


def _streams() -> Iterator[str]:
    """From bench/scale/streaming.json."""
    told = _file("streaming")
    if not told:
        return
    yield "## Streams"
    yield (
        "Folders of Parquet files, made by a generator, judged by `fernn eval` in pieces: reading, putting traces "
        "together and judging, by one process with one thread (`python -m bench.scale.streaming`). A sample is a row, "
        "whatever the number of channels."
    )
    rows = [
        [str(each["channels"]), str(each["length"]), f"{each['bytes'] / 1e9:.2f}", f"{each['samples'] / 1e6:.0f}",
         f"{each['samples'] / each['seconds'] / 1e6:.1f}", f"{each['samples'] / each['cpu'] / 1e6:.1f}",
         f"{each['peak'] / 1e6:.0f}"]
        for each in told["results"]
    ]  # fmt: skip
    yield markdown_table(
        [
            "channels",
            "samples a trace",
            "GB",
            "million samples",
            "million a second",
            "a second of processor time",
            "MB at most",
        ],
        rows,
    )


def _exact_card() -> Iterator[str]:
    told = _file("gpu_exact")
    if not told:
        return
    where = told["parts"]["surroundings"]
    yield "## The exact search on a card"
    yield (
        f"{_device(where)} Millions of candidates scored a second; what both find is the same. A whole search gains "
        "little: growing and merging behaviours stay on the processor."
    )
    rows = [
        [name, f"{each['cpu_rate'] / 1e6:,.2f}", f"{each['card_rate'] / 1e6:,.1f}", f"{each['times']:.1f}"]
        for name, each in told["parts"].items()
        if "times" in each and each["same"]
    ]
    yield markdown_table(["", "two cores", "card", "times"], rows)


def _fernn_card() -> Iterator[str]:
    told = _file("gpu_fernn")
    if not told:
        return
    yield "## FERNN's restarts on a card"
    yield (
        f"{_device(told['surroundings'])} The paper's training, in billions of gradient steps times traces times "
        "samples a second. The cores have the better of two threads and two processes."
    )
    figures = told["figures"]
    rows = []
    for size in dict.fromkeys(each["size"] for each in figures if each["what"] == "card"):
        mine = [each for each in figures if each.get("size") == size]
        cores = max(each["rate"] for each in mine if each["what"].startswith("two"))
        card = {each["restarts"]: each for each in mine if each["what"] == "card" and "rate" in each}
        rows.append([size, f"{cores / 1e9:.3f}", *(_times(card.get(count)) for count in RESTARTS)])
    yield markdown_table(["", "two cores", *(f"{count:,} restarts" for count in RESTARTS)], rows)


RESTARTS = (64, 512, 4096, 16384)


def _times(found: Found | None) -> str:
    return "" if found is None else f"{found['rate'] / 1e9:.1f} ({found['times two cores']:.0f} times)"


def _device(where: dict[str, str]) -> str:
    names = ("numpy", "numba", "torch", "triton")
    return f"{where['card']}; {where['processor']}; " + ", ".join(f"{name} {where[name]}" for name in names) + "."


def _file(name: str) -> Found:
    path = CARD / f"{name}.json"
    return json.loads(path.read_text()) if path.is_file() else {}


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
    yield from _measured_apart()
    gains = workers.gains(store.found("workers"))
    for work in workers.WORKS:
        mine = {each: gain for each, gain in gains.items() if each.endswith(work)}
        if mine:
            least = min(mine, key=lambda each: mine[each])
            yield Aim(
                f"two workers against one, {work}, least", "1.7", f"{mine[least]:.2f} ({least})", mine[least] >= 1.7
            )


def _measured_apart() -> Iterator[Aim]:
    """Aims whose figures are in files of their own."""
    streams = _file("streaming").get("results", [])
    if streams:
        for clock, said in (("seconds", "by the clock"), ("cpu", "of processor time")):
            rate = min(each["samples"] / each[clock] / 1e6 for each in streams)
            yield Aim(f"million samples a second and core from Parquet, {said}, least", "5", f"{rate:.1f}", rate >= 5)
        most = max(streams, key=lambda each: each["bytes"])
        told = f"{most['peak'] / 1e6:.0f} MB for {most['bytes'] / 1e9:.1f} GB"
        yield Aim("memory for 10 GB of Parquet", "below 1 GB", told, most["bytes"] >= 10e9 and most["peak"] < 1e9)
    exact = [each["times"] for name, each in _file("gpu_exact").get("parts", {}).items() if " traces, " in name]
    if exact:
        yield Aim("exact scoring on an H200 against two cores, least", "50", f"{min(exact):.0f}", min(exact) >= 50)
    fernn = [each["times two cores"] for each in _file("gpu_fernn").get("figures", []) if each["what"] == "card"]
    if fernn:
        yield Aim("FERNN on an H200 against two cores, least", "20", f"{min(fernn):.0f}", min(fernn) >= 20)


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
    yield markdown_table(["", *growth.AXES], rows)
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
    return markdown_table(["", "", "from", "s", "to", "s", "MB there"], rows)


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
