"""Pictures of data, rules and results, as matplotlib figures: `pip install 'fernn[plot]'`.

against   the traces of both classes against rules
bars      methods beside each other, with what a paper reports
front     the error of each rule of a front against its length
save      a picture as a PNG or SVG file
"""

from .dots import bars
from .fronts import front
from .saving import save
from .traces import against

__all__ = ["against", "bars", "front", "save"]
