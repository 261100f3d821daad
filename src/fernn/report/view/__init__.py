"""What a page draws, as plain JSON: numbers, texts and lists, ready for a browser.

traces         the recordings, small enough to send
part           more of some of their samples
reading        what a rule says of every trace, and which sample decided
lanes          every part of a rule over time, for one trace
sensitivity    the error as each threshold moves alone
classes        rules for classes, and who is taken for whom
rivals         the rules of a run that are as good as the picked one
"""

from .class_view import classes
from .rival_view import rivals
from .rule_view import lanes, reading, sensitivity
from .trace_view import part, traces

__all__ = ["classes", "lanes", "part", "reading", "rivals", "sensitivity", "traces"]
