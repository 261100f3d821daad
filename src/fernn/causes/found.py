"""What the search for causes gives back, and how it is said."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import Any

from ..formula import Formula, length, to_sentence
from ..learners.fit import Fit
from ..plain import short_repr
from .account import Account
from .marked import Marked

SCHEMA = 1


@dataclass(frozen=True)
class CauseFit(Fit):
    """A front of sets of rules, each joined by or; `rules` are those of the picked one."""

    rules: tuple[Formula, ...] = ()
    account: Account | None = None
    """Of the picked rules, on the traces learned from."""
    proofs: tuple[bool, ...] = ()
    """Of each entry of the front: whether no rules of the space, as many and as long, cost less."""
    data: Marked | None = None
    remarks: tuple[str, ...] = ()
    """What else a person should know."""

    __repr__ = short_repr

    def __str__(self) -> str:
        return self.told()

    @property
    def proved(self) -> bool:
        return self.proofs[self.front.pick]

    @property
    def notes(self) -> tuple[str, ...]:
        return (self._certainty(), *self.remarks)

    def _certainty(self) -> str:
        if not self.front.picked.train:
            return "proved: no error is left on these samples"
        many = "no rule" if len(self.rules) == 1 else f"no {len(self.rules)} rules"
        if self.proved:
            return f"proved: {many} of length {max(map(length, self.rules))} or less in the space cost less here"
        return "not proved: other rules, as many and as long, might cost less (found by greed and exchange)"

    def sentences(self) -> list[str]:
        """A rule a sentence, told from the sample at which it is judged."""
        assert self.data is not None
        data = self.data.data
        return [to_sentence(rule, data.dt, data.time_unit, every_sample=True) for rule in self.rules]

    def told(self) -> str:
        """The picked rules, what each explains, and what became of the faults."""
        assert self.account is not None
        lines = ["a fault shows when"]
        for number, (said, each) in enumerate(zip(self.sentences(), self.account.rules, strict=True), 1):
            lines.append(f"  {number}. {said}")
            lines.append(f"     {each.rule}")
            lines.append(f"     {told_rule(each.explains, each.alone, each.false_alarms, self.account.faulty)}")
        return "\n".join([*lines, told_faults(self.account)])

    def to_json(self) -> dict[str, Any]:
        """Plain data; what is not known is None."""
        rows = self.front.to_json()["entries"]
        for i, (row, proved) in enumerate(zip(rows, self.proofs, strict=True)):
            row |= {name: None for name in ("validation", "spread") if isnan(row[name])}
            row |= {"proved": proved, "picked": i == self.front.pick}
        return {
            "schema": SCHEMA,
            "formula": str(self.formula),
            "rules": [str(rule) for rule in self.rules],
            "sentences": self.sentences(),
            "front": rows,
            "account": None if self.account is None else self.account.to_json(),
            "notes": list(self.notes),
            "ended": self.ended,
            "seconds": round(self.seconds, 3),
        }


def told_rule(explains: int, alone: int, false_alarms: int, faulty: int) -> str:
    share = f"holds at {explains} of {faulty} faulty samples, alone at {alone}"
    return f"{share}; at {false_alarms} without a fault"


def told_faults(account: Account) -> str:
    """`12 of 13 faults seen, ...`"""
    delays = sorted(account.delays)
    late = ""
    if delays:
        most = delays[-1]
        late = ", at once" if not most else f", {delays[len(delays) // 2]} samples late (median; at most {most})"
    seen = f"{account.detected} of {len(account.episodes)} faults seen{late}"
    cries = f"{account.false_alarm_episodes} false alarm{'' if account.false_alarm_episodes == 1 else 's'}"
    return f"{seen}; {cries}"
