"""How a page of measurements begins: where they were made, and what was aimed at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fernn.evaluation.comparison import markdown_table

from .store import Store


@dataclass(frozen=True)
class Aim:
    """`met` is None where nothing was measured."""

    text: str
    wanted: str
    measured: str = "-"
    met: bool | None = None

    @property
    def verdict(self) -> str:
        return "not measured" if self.met is None else "met" if self.met else "not met"


def heading(title: str, target: str, store: Store, aims: Iterable[Aim]) -> Iterator[str]:
    """Title, machine and versions, and the aims."""
    where = store.surroundings
    yield f"# {title}"
    yield (
        f"Made by `make {target}`, which goes on where it was interrupted. "
        f"{where['processor']}, {where['cores']} cores. "
        + ", ".join(f"{name} {found}" for name, found in list(where.items())[2:])
        + f". Load average {min(store.loads, default=0):.1f} to {max(store.loads, default=0):.1f} while it ran, itself "
        "included."
    )
    if store.sources not in ([], [store.source]):
        yield "**Some of these figures belong to an earlier version of the source.**"
    yield "## Aims"
    lines = ((aim.text, aim.wanted, aim.measured, "met" if aim.met else f"**{aim.verdict}**") for aim in aims)
    yield markdown_table(("", "aim", "measured", ""), lines)
