"""Parameter sets: all values of a structure's open numbers that keep false alarms and misses within limits.

found = parameter_set("G (v <= ?c)", data, false_alarms=0.05, misses=0.05)
print(found.bounds["c"].told("c"), found.picked)
"""

from .finding import parameter_set
from .found import ParameterSet
from .ranges import Box, Range
from .rates import Point, Profile
from .reading import structure
from .search import Progress
from .sketch import sketch
from .structure import Parameter, Structure
from .svg import to_svg

__all__ = [
    "Box",
    "Parameter",
    "ParameterSet",
    "Point",
    "Profile",
    "Progress",
    "Range",
    "Structure",
    "parameter_set",
    "sketch",
    "structure",
    "to_svg",
]
