"""Pictures of data, rules and results, as matplotlib figures: `pip install 'fernn[plot]'`.

against     the traces of both classes against rules
lanes       one trace, with the robustness of every part of a rule
front       the error of each rule of a front against its length
curves      how the error fell while learning went on
confusion   labels against verdicts
region      all values of open numbers that keep to their limits
bars        methods beside each other, with what a paper reports
draw_comparison   errors and seconds of a comparison, as files
save        a picture as a PNG or SVG file
"""

from .front_plot import curves, front
from .region_plot import region
from .score_plot import bars, confusion, draw_comparison
from .style import save
from .subformula_plot import lanes
from .trace_plot import against

__all__ = ["against", "bars", "confusion", "curves", "draw_comparison", "front", "lanes", "region", "save"]
