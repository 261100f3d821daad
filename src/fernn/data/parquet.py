"""Parquet files in the tidy layout, through the optional polars."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .dataset import Floats
from .options import Options
from .problems import Ledger, refusal
from .roles import Roles, roles
from .table import Table


def parquet_table(path: Path, options: Options, ledger: Ledger) -> tuple[Table, Roles] | None:
    """The file's columns and their parts; `lines` are row numbers, from 1."""
    try:
        import polars as pl
    except ImportError as error:
        what = "reading Parquet needs polars, which is not installed"
        raise refusal("no-polars", what, "Run: pip install 'fernn[io]', or convert the file to CSV.") from error
    try:
        frame = pl.read_parquet(path)
    except Exception as error:
        what = f"not a readable Parquet file ({str(error).splitlines()[0][:100]})"
        raise refusal("parquet", what, "Check how it was written.") from error
    if not frame.height:
        ledger.add("empty", "error", "the file has no rows", "Check how the file was written.")
        return None
    parts = roles(frame.columns, options, ledger)
    if parts is None:
        return None
    columns: list[list[Floats | list[str]]] = []
    for i, column in enumerate(frame.iter_columns()):
        if i not in parts.words and (column.dtype.is_numeric() or column.dtype == pl.Boolean):
            columns.append([np.array(column.cast(pl.Float64).fill_null(np.nan).to_numpy(), dtype=np.float64)])
        elif column.dtype == pl.Datetime or column.dtype == pl.Date:
            stamps = column.cast(pl.Datetime("us")).cast(pl.Int64)
            columns.append([np.array(stamps.cast(pl.Float64).fill_null(np.nan).to_numpy() / 1e6)])
        else:
            columns.append([["" if cell is None else str(cell).strip() for cell in column.to_list()]])
    lines = np.arange(1, frame.height + 1, dtype=np.int64)
    return Table(tuple(frame.columns), tuple(columns), lines), parts
