"""Rules of any kind read back from what they were saved as."""

from __future__ import annotations

from typing import Any

from ...errors import FernnError
from .envelope import Envelope
from .ranks import RankRule
from .rules import SCHEMA, Decides, PerClass, RuleList

KINDS: dict[str, Any] = {kind.kind: kind for kind in (PerClass, RuleList, Envelope, RankRule)}


def read_rules(told: Any) -> Decides:
    """From what `to_json` gave, checked."""
    if not isinstance(told, dict) or told.get("schema") != SCHEMA or told.get("kind") not in KINDS:
        raise FernnError(f"these are no rules of fernn: wanted an object of schema {SCHEMA}, kind {', '.join(KINDS)}.")
    made: Decides = KINDS[told["kind"]].from_json(told)
    return made
