"""What has been measured, on disk after every unit: an interrupted run goes on where it stopped."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Found = dict[str, Any]
SCHEMA = 1


@dataclass
class Store:
    """`parts[part][unit]` is what was found, with the mark of the source and the load of the machine."""

    path: Path
    source: str
    surroundings: dict[str, str]
    parts: dict[str, dict[str, Found]] = field(default_factory=dict)

    @classmethod
    def opened(cls, path: Path, source: str, surroundings: dict[str, str]) -> Store:
        """With what earlier runs left."""
        parts = {}
        if path.is_file():
            kept = json.loads(path.read_text())
            parts = kept["parts"] if kept.get("schema") == SCHEMA else {}
        return cls(path, source, surroundings, parts)

    def has(self, part: str, unit: str) -> bool:
        """Whether this version of the source has been measured."""
        return self.parts.get(part, {}).get(unit, {}).get("source") == self.source

    def put(self, part: str, unit: str, found: Found) -> None:
        record = {**found, "source": self.source, "load": round(os.getloadavg()[0], 1)}
        self.parts.setdefault(part, {})[unit] = record
        whole = {"schema": SCHEMA, "surroundings": self.surroundings, "parts": self.parts}
        spare = self.path.with_suffix(".part")
        spare.write_text(json.dumps(whole, indent=1) + "\n")
        spare.replace(self.path)

    def forget(self, part: str) -> None:
        self.parts.pop(part, None)

    def found(self, part: str, start: str = "") -> dict[str, Found]:
        """The units whose names start like this, in the order measured."""
        return {unit: found for unit, found in self.parts.get(part, {}).items() if unit.startswith(start)}

    @property
    def sources(self) -> list[str]:
        """Marks of all versions that these figures come from."""
        return sorted({found["source"] for units in self.parts.values() for found in units.values()})

    @property
    def loads(self) -> list[float]:
        return [found["load"] for units in self.parts.values() for found in units.values()]
