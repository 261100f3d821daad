"""The report: one HTML file that needs nothing else.

write_report(run)                 makes it, from the folder of a run
write_result_report(done)         the same of what was just found
page(done, problems)              is its text
"""

from typing import Any
from warnings import warn

from .html import NAME, page, write_report, write_result_report

__all__ = [
    "NAME",
    "page",
    "write_report",
    "write_result_report",
]

_OLD_NAMES = {"written": "write_report"}


def __getattr__(name: str) -> Any:
    if name not in _OLD_NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warn(f"fernn.report.page.{name} is called {_OLD_NAMES[name]} now", DeprecationWarning, stacklevel=2)
    return globals()[_OLD_NAMES[name]]
