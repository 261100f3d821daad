"""What a page draws, as plain JSON: numbers, texts and lists, ready for a browser.

traces             the recordings, small enough to send
part               more of some of their samples
expression_points  what a rule compares that is no channel, `diff(v, 0.5 s)`, over the same traces
reading            what a rule says of every trace, and which sample decided
lanes              every part of a rule over time, for one trace
sensitivity        the error as each threshold moves alone
classes            rules for classes, and who is taken for whom
rivals             the rules of a run that are as good as the picked one
"""

from .class_view import classes
from .rival_view import rivals
from .rule_view import lanes, reading, sensitivity
from .trace_view import expression_points, part, traces

__all__ = ["classes", "expression_points", "lanes", "part", "reading", "rivals", "sensitivity", "traces"]
