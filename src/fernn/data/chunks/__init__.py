"""Recordings larger than memory, read as whole traces some at a time.

for lot in Stream(opened("drives/")):      # a folder of Parquet files, a Parquet file or a CSV file
    print(lot.cases, lot.traces())
"""

from .lot import Lot
from .source import Source, can_stream, is_large, opened
from .stream import Stream

__all__ = ["Lot", "Source", "Stream", "can_stream", "is_large", "opened"]
