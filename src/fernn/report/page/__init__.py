"""The report: one HTML file that needs nothing else.

written(run)               makes it, from the folder of a run
written_of(job, problems)  the same where the data are at hand
page(job, problems)        is its text
"""

from .page import page
from .writing import NAME, written, written_of

__all__ = ["NAME", "page", "written", "written_of"]
