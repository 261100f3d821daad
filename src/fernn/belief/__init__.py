"""How far a rule may be believed: its rivals, what they agree on, and which of its parts say anything."""

from .meaning import Part, leaner, parts
from .relation import Relation, related
from .rivalry import Group, Rivalry, rivalry

__all__ = ["Group", "Part", "Relation", "Rivalry", "leaner", "parts", "related", "rivalry"]
