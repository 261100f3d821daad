"""Recordings larger than memory, read as batches of whole traces.

for batch in Stream(open_source("drives/")):      # a folder of Parquet files, a Parquet file or a CSV file
    print(batch.cases, batch.traces())
"""

from .source import Source, can_stream, is_large, open_source
from .trace_stream import Stream, TraceBatch

__all__ = ["Source", "Stream", "TraceBatch", "can_stream", "is_large", "open_source"]
