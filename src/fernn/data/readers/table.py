"""A text file as a table of columns: numbers where cells are numbers, text where they are not.

Whole columns are converted at once, a block of rows at a time; only a column that resists is looked
at cell by cell, to say where. So a clean file is read fast and a bad one is explained.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, islice, pairwise
from pathlib import Path

import numpy as np

from ...formula.printer import format_number
from ..arrays import Bools, Floats, Ints
from ..options import ReadOptions
from ..problems import SHOWN, ProblemLog, quote_names
from .column_roles import CASES, LABELS, TIMES, Roles
from .dialect import END, Dialect, open_text, report_swallowed_rows, report_unclosed_quote, split_rows, unescape_cell
from .text_cells import MISSING, NO_TEXT, is_number, is_plain, overflows, parse_number

BLOCK = 4_000  # rows; more of them at once are slower, for they fall out of the cache
CELLS = 200_000  # of a block at most; each takes some sixty bytes while it is text
POOL = 100_000  # texts of ids that are kept so that a repeated one is one string
GROUPS = re.compile(r"[+-]?\d{1,3}(,\d{3})+", re.ASCII)  # 1,000 may be a thousand


@dataclass(frozen=True)
class Table:
    """Columns in blocks of rows; `lines` is where each row stands in the file.

    A block is an array of numbers, or a list of cells where it holds words or was asked to stay text.
    """

    header: tuple[str, ...]
    columns: tuple[list[Floats | list[str]], ...]
    lines: Ints

    def texts(self, column: int) -> list[str]:
        """The cells of a column, without surrounding blanks."""
        cells: list[str] = []
        for block in self.columns[column]:
            cells += block if isinstance(block, list) else [repr(x) for x in block.tolist()]
        return cells

    def codes(self, column: int, known: dict[str, int]) -> Floats:
        """The column of texts as numbers of categories, NaN where there is none; `known` has the numbers, and grows."""
        numbers: dict[str, float] = {}
        for text in (cells := self._category_cells(column)):
            if text not in numbers:
                name = category_name(text)
                is_missing = name not in known and name.casefold() in NO_TEXT
                numbers[text] = np.nan if is_missing else known.setdefault(name, len(known))
        return np.fromiter(map(numbers.__getitem__, cells), np.float64, len(cells))

    def category_counts(self, column: int) -> Counter[str]:
        """How often each category comes, were the column one of texts."""
        counts: Counter[str] = Counter()
        for text, count in Counter(self._category_cells(column)).items():
            if (name := category_name(text)).casefold() not in NO_TEXT:
                counts[name] += count
        return counts

    def _category_cells(self, column: int) -> list[str]:
        """As `texts`; a number that stands among words is written without a needless point."""
        cells: list[str] = []
        for block in self.columns[column]:
            numbers = [] if isinstance(block, list) else block.tolist()
            cells += block if isinstance(block, list) else ["" if x != x else format_number(x) for x in numbers]
        return cells

    def part(self, low: int, high: int) -> Table:
        """The rows from `low` up to `high`."""
        return Table(self.header, tuple(_part(blocks, low, high) for blocks in self.columns), self.lines[low:high])

    def numbers(self, column: int, options: ReadOptions, log: ProblemLog, cases: Sequence[str]) -> tuple[Floats, Bools]:
        """The column as numbers with NaN where there is none, and which cells are words instead.

        `cases` has the case of each row.
        """
        parts: list[Floats] = []
        wrong: list[Bools] = []
        for block in self.columns[column]:
            values = _each(block, options.decimal) if isinstance(block, list) else block
            wrong.append(_words(block, values))
            parts.append(values)
        numbers, words = np.concatenate(parts), np.concatenate(wrong)
        at = np.flatnonzero(words)
        if at.size:
            self._report_words(column, at, cases, options, log)
        return numbers, words

    def _report_words(self, column: int, at: Ints, cases: Sequence[str], options: ReadOptions, log: ProblemLog) -> None:
        cells = self.texts(column)
        kind, severity = "text", options.severity_of_rows
        fix = options.row_fix("Fix the cell, choose other --channels, or pass --bad-rows skip.")
        other = "," if options.decimal == "." else "."
        if all(other in cells[i] and parse_number(cells[i], other) is not None for i in at[:SHOWN]):
            severity = "error"  # the whole file is meant otherwise, so no row of it is to be skipped
            kind, mark, fix = "decimal-comma", "comma", "Pass --decimal ','."
            if other == "," and all(GROUPS.fullmatch(cells[i]) for i in at):
                fix = f"Write {cells[at[0]].replace(',', '')} if that is meant; pass --decimal ',' if it is a fraction."
            if other == ".":
                kind, mark = "decimal-point", "point where a decimal comma was asked for"
                fix = "Leave out --decimal ',', or write 1500 where 1.500 stands for it."
            many = "1 cell uses" if at.size == 1 else f"{at.size:,} cells use"
            what = f"{many} a decimal {mark}, first {cells[at[0]][:40]!r}"
            line, case = int(self.lines[at[0]]), cases[at[0]] or None
            name = self.header[column]
            log.add(kind, severity, what, fix, line=line, column=name, case=case, count=int(at.size))
            return
        for i in at[:SHOWN]:
            what = f"{cells[i][:40]!r} is not a number"
            if overflows(cells[i], options.decimal):
                what = f"{cells[i][:40]!r} is too large: numbers go up to about 1.8e308"
            line, case = int(self.lines[i]), cases[i] or None
            log.add(kind, severity, what, fix, line=line, column=self.header[column], case=case)
        log.count(kind, severity, at.size - SHOWN, self.header[column])


def text_table(
    path: Path,
    dialect: Dialect,
    header: Sequence[str] | None,
    roles: Roles,
    options: ReadOptions,
    log: ProblemLog,
) -> Table:
    """All rows of the file; case, label and group stay text. Without a header, columns are numbered from 1."""
    names = _names(header, dialect)
    return concat_tables(names, text_blocks(path, dialect, header, roles, options, log))


def text_blocks(
    path: Path,
    dialect: Dialect,
    header: Sequence[str] | None,
    roles: Roles,
    options: ReadOptions,
    log: ProblemLog,
) -> Iterator[Table]:
    """The same a block of rows at a time."""
    names = _names(header, dialect)
    keep = frozenset(roles.words)
    plain = unescape_cell if dialect.is_escaped else str
    pool: dict[str, str] = {}  # a repeated id is one string
    wanted = "the header has" if header else "the first row has"
    with open_text(path, options.encoding) as handle:
        for _ in range(dialect.skip):
            next(handle)
        reader = split_rows(chain(handle, [END]), dialect.delimiter)
        while header is not None and not dialect.commented and not any(next(reader)):
            continue
        line = dialect.skip + reader.line_num + 1
        at_once = rows_at_once(len(names))
        while block := list(islice(reader, at_once)):
            after = dialect.skip + reader.line_num + 1
            if block[-1] == [END]:
                block.pop()
                after -= 1
            elif report_unclosed_quote(block[-1], after - 2, log):
                block.pop()
            rows, at = _full_rows(block, range(line, after), names, wanted, dialect, roles, options, log)
            line = after
            if len(pool) > POOL:
                pool.clear()
            columns: list[Floats | list[str]] = [
                [pool.setdefault(c, c) for c in map(plain, map(str.strip, cells))]
                if j in keep
                else _block(cells, options)
                for j, cells in enumerate(zip(*rows, strict=True))
            ]
            yield Table(names, tuple([c] for c in columns) or tuple([] for _ in names), np.array(at, dtype=np.int64))


def rows_at_once(columns: int) -> int:
    """Rows of a block: fewer where a row is wide."""
    return max(min(BLOCK, CELLS // max(columns, 1)), 1)


def concat_tables(names: tuple[str, ...], tables: Iterable[Table]) -> Table:
    """Tables of the same columns, one under the other."""
    columns: tuple[list[Floats | list[str]], ...] = tuple([] for _ in names)
    lines: list[Ints] = [np.empty(0, np.int64)]
    for table in tables:
        for all_blocks, blocks in zip(columns, table.columns, strict=True):
            all_blocks += blocks
        lines.append(table.lines)
    return Table(names, columns, np.concatenate(lines))


def _names(header: Sequence[str] | None, dialect: Dialect) -> tuple[str, ...]:
    return tuple(header or (str(i + 1) for i in range(len(dialect.first))))


def _full_rows(
    block: list[list[str]],
    span: range,
    names: tuple[str, ...],
    wanted: str,
    dialect: Dialect,
    roles: Roles,
    options: ReadOptions,
    log: ProblemLog,
) -> tuple[list[list[str]], Iterable[int]]:
    """The rows with one cell for each name, and their lines; the block spans the lines `span`.

    Blank lines and a delimiter that closes the line do not count.
    """
    width = len(names)
    if set(map(len, block)) == {width} and len(span) == len(block):
        return block, span
    breaks = (1 + sum(cell.count("\n") for cell in row) for row in block)  # a quoted cell may hold some
    starts = accumulate(breaks, initial=span.start)
    rows, lines = [], []
    for row, at in zip(block, starts, strict=False):
        if len(row) == width + 1 and not row[-1].strip():
            row = row[:-1]
        if any("\n" in cell for cell in row) and report_swallowed_rows(row, at, dialect.delimiter, width, log):
            continue
        if len(row) == width:
            rows.append(row)
            lines.append(at)
        elif any(cell.strip() for cell in row):
            _report_ragged(row, at, names, wanted, dialect, roles, options, log)
    return rows, lines


def _report_ragged(
    row: list[str],
    line: int,
    names: tuple[str, ...],
    wanted: str,
    dialect: Dialect,
    roles: Roles,
    options: ReadOptions,
    log: ProblemLog,
) -> None:
    width = len(names)
    odd = f"missing: {quote_names(names[len(row) :], 3)}"
    odd = f"extra: {quote_names(row[width:], 3)}" if len(row) > width else odd
    what = f"{len(row)} field{'s' * (len(row) != 1)}, {wanted} {width} ({odd})"
    fix = options.row_fix("Fix the row or pass --bad-rows skip.")
    words = sum(not is_number(cell.strip()) for cell in row)
    if dialect.delimiter == "," and len(row) > width and words <= len(roles.words) and _has_split_number(row):
        fix = "If numbers have a decimal comma here, separate the fields by ';' and pass --decimal ','. " + fix
    case = row[roles.case].strip() if roles.case is not None and roles.case < len(row) else None
    log.add("ragged-row", options.severity_of_rows, what, fix, line=line, case=case or None)


def _has_split_number(row: list[str]) -> bool:
    """Two cells such as 1 and 5, which may be 1,5 taken apart."""
    cells = [cell.strip() for cell in row]
    return any(a.lstrip("+-").isdigit() and b.isdigit() for a, b in pairwise(cells))


def _block(cells: tuple[str, ...], options: ReadOptions) -> Floats | list[str]:
    try:
        if not is_plain(cells, options.decimal):
            return [c.strip() for c in cells]
        if options.decimal == ",":
            found = np.fromiter((float(c.replace(",", ".")) for c in cells), np.float64, len(cells))
        else:
            found = np.fromiter(map(float, cells), np.float64, len(cells))
        return [c.strip() for c in cells] if np.isinf(found).any() else found  # the word inf, or a number too large
    except ValueError:
        return [c.strip() for c in cells]


def _part(blocks: list[Floats | list[str]], low: int, high: int) -> list[Floats | list[str]]:
    found: list[Floats | list[str]] = []
    at = 0
    for block in blocks:
        first, last = max(low - at, 0), min(high - at, len(block))
        if first < last:
            found.append(block[first:last])
        at += len(block)
    return found


def _each(cells: list[str], decimal: str) -> Floats:
    values = np.full(len(cells), np.nan)
    for i, cell in enumerate(cells):
        found = parse_number(cell, decimal)
        if found is not None:
            values[i] = found
    return values


def _words(block: Floats | list[str], values: Floats) -> Bools:
    if not isinstance(block, list):
        return np.zeros(len(values), dtype=bool)
    unusual = np.fromiter((cell.casefold() not in MISSING for cell in block), np.bool_, len(block))
    words: Bools = np.isnan(values) & unusual
    return words


def drop_unused_columns(
    table: Table, roles: Roles, options: ReadOptions, log: ProblemLog, *, wide: bool = False
) -> Roles:
    """The parts without columns that cannot be meant as channels; each is told."""
    _report_unnamed(table, roles, log)
    unknown = (i for i in roles.channels if i not in roles.categories)
    words = {i: cells for i in unknown if (cells := _words_in(table, i)) is not None}
    if not words:
        return roles
    few = tuple(i for i in words if not wide and is_category(table, i, options))
    if options.channels is not None and not wide:  # texts that are no categories are told cell by cell
        return replace(roles, categories=(*roles.categories, *few))
    left_out = {i: found for i, found in words.items() if i not in few}
    if len(left_out) == len(roles.channels):
        return roles
    for i, (example, numbers, count) in left_out.items():
        fix = "Pass --label with its name if it is the label, or list the channels with --channels."
        what = f"the column holds words, such as {example[:40]!r}, so it is left out"
        if numbers:
            what = (
                f"most cells of the column are words, such as {example[:40]!r} ({numbers:,} of {count:,} are numbers), "
            )
            what += "so it is left out"
        log.add("text-column", "warning", what, fix, column=table.header[i])
    channels = tuple(i for i in roles.channels if i not in left_out)
    return replace(roles, channels=channels, categories=(*roles.categories, *few))


MOST_CATEGORIES = 50
FEW_CATEGORIES = 5
NUMBERLIKE = re.compile(r"[+-]?\d[\d.,'_ ]*")


def is_category(table: Table, column: int, options: ReadOptions) -> bool:
    """Whether a column of words has few enough to be a channel of categories, and no name of another part.

    There are at most 50, each ten times on average; up to five may come only twice. Of a column that was asked for by
    name, it does not matter how often.
    """
    name = table.header[column]
    counts = table.category_counts(column)
    total = sum(counts.values())
    if len(counts) > MOST_CATEGORIES or not all(text.isprintable() for text in counts):
        return False
    if 2 * sum(NUMBERLIKE.fullmatch(text) is not None for text in counts) > len(counts):
        return False  # numbers that are written in another way than asked for
    if name in (options.channels or ()):
        return True
    often = total >= 10 * len(counts) or (len(counts) <= FEW_CATEGORIES and total >= 2 * len(counts))
    return often and name.casefold() not in (*CASES, *TIMES, *LABELS)


def category_name(text: str) -> str:
    """A text as a dataset has it, blanks inside as one."""
    return " ".join(text.split())


def _report_unnamed(table: Table, roles: Roles, log: ProblemLog) -> None:
    for i, name in enumerate(table.header):
        if name or i in roles.channels or i in roles.words or i == roles.time:
            continue
        filled = [b for b in table.columns[i] if (any(b) if isinstance(b, list) else np.isfinite(b).any())]
        if filled:
            what = f"column {i + 1} holds values but has no name in the header, so it is left out"
            log.add("unnamed-column", "warning", what, "Name it to use it, or remove it.")


def _words_in(table: Table, column: int) -> tuple[str, int, int] | None:
    """A word, how many cells are numbers, and how many there are; None where half of them or more are numbers."""
    numbers = count = 0
    example = None
    for block in table.columns[column]:
        if not isinstance(block, list):
            known = int(np.isfinite(block).sum())
            numbers, count = numbers + known, count + known
            continue
        for cell, times in Counter(block).items():
            if cell.casefold() in MISSING:
                continue
            count += times
            if (
                parse_number(cell) is not None
                or parse_number(cell, ",") is not None
                or overflows(cell)
                or overflows(cell, ",")
            ):
                numbers += times
            elif example is None:
                example = cell
    return None if example is None or 2 * numbers >= count else (example, numbers, count)
