"""The `fernn` command, and what its exit codes mean.

Nothing heavy is imported here: `fernn --help` has to answer at once.
"""

from __future__ import annotations

import signal
import sys
import warnings
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from ..errors import LONGEST_LINE, DataError, FernnError, RunError, SignalError, UnsupportedError, excerpt
from .check_rule import ask, believe, certify, equiv, rivals
from .compare import compare, methods, reproduce
from .demo import demo
from .evaluate import evaluate, explain
from .formulas import export, simplify
from .learn import learn
from .look import plot, report, studio
from .mine import cause, params
from .output import INTERRUPTED, Warnings, as_json, complain
from .recordings import check, generate, sample
from .results import classify
from .watch import monitor, watch

NUMBA_SETTINGS = Path(".numba_config.yaml")
"""Read by numba from the working folder as soon as it is imported."""
FINE, VIOLATED, BAD_DATA, BAD_USAGE = 0, 1, 2, 3
UsageError: Any = typer.BadParameter.__base__  # typer's own or click's, whichever this typer stands on

GROUPS: dict[str, tuple[Callable[..., Any], ...]] = {
    "Learn": (learn, methods, compare),
    "Look": (check, report, plot, studio),
    "Use": (evaluate, explain, classify, monitor, watch, export),
    "Check a rule": (believe, rivals),
}
"""What the first screen shows, besides the commands of `formula`."""
MORE: tuple[Callable[..., Any], ...] = (ask, cause, certify, demo, generate, params, reproduce, sample)
"""Named at the end of it."""
FORMULA: tuple[Callable[..., Any], ...] = (simplify, equiv)
"""Commands of `fernn formula`, which were commands of their own; those names still work, and say the new ones."""


def _target_names() -> str:
    from ..formula import TARGETS

    return ", ".join(TARGETS.names)


LISTS: dict[str, Callable[[], str]] = {"{targets}": _target_names}
"""Words in the help of options that stand for what a registry has; looked up when the help is shown."""


class HelpfulCommand(TyperCommand):
    """A command whose help names what registries have."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None:
                title = "Arguments" if param.param_type_name == "argument" else "Options"
                sections[title].append((record[0], _fill(record[1])))
        for title, rows in sections.items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def _fill(text: str) -> str:
    for word, names in LISTS.items():
        text = text.replace(word, names()) if word in text else text
    return text


class GroupedCommands(TyperGroup):
    """The commands in groups, those that fewer people need by name only."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        groups = {title: [_name(each) for each in each_of] for title, each_of in GROUPS.items()}
        groups["Check a rule"].append("formula")
        room = formatter.width - 6 - max(len(name) for names in groups.values() for name in names)
        for title, names in groups.items():
            with formatter.section(title):
                formatter.write_dl([(name, self.commands[name].get_short_help_str(room)) for name in names])
        with formatter.section("More"):
            formatter.write_text(f"{', '.join(map(_name, MORE))}; each has --help")


app = typer.Typer(
    name="fernn",
    cls=GroupedCommands,
    help="Rules in temporal logic for time series: learn them from labelled recordings, judge them, watch them live.",
    epilog="Exit codes: 0 fine, 1 violated or no result, 2 bad data, 3 bad usage, 130 interrupted. Try: fernn demo",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
formula_app = typer.Typer(
    help="Work on formulas alone: simplify one, or ask by equiv whether two say the same.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


def _name(command: Callable[..., Any]) -> str:
    return {"evaluate": "eval"}.get(command.__name__, command.__name__)


def _under_old_name(command: Callable[..., Any], to: str) -> Callable[..., Any]:
    """The command under its old name, which says the new one."""

    @wraps(command)
    def forward(**given: Any) -> Any:
        complain(f"note: fernn {_name(command)} is now called fernn {to} {_name(command)}")
        return command(**given)

    return forward


for command in (*(each for group in GROUPS.values() for each in group), *MORE):
    app.command(name=_name(command), cls=HelpfulCommand)(command)
for command in FORMULA:
    formula_app.command(name=_name(command), cls=HelpfulCommand)(command)
    app.command(name=_name(command), hidden=True)(_under_old_name(command, "formula"))
app.add_typer(formula_app, name="formula")


def _version(wanted: bool) -> None:
    if wanted:
        from .. import __version__

        typer.echo(f"fernn {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Show the version."),
) -> None:
    if NUMBA_SETTINGS.exists():
        raise UnsupportedError(
            f"{NUMBA_SETTINGS.absolute()} would tell numba, which compiles what fernn computes with, how to do so, "
            "even from which folder to load compiled code. A file in the working folder may have come with somebody "
            "else's data, so fernn does not start beside it. Remove it, or go to another folder; settings for numba "
            "that are yours can be environment variables, such as NUMBA_NUM_THREADS=4."
        )


def main() -> NoReturn:
    """Run the command and leave with its exit code."""
    shown = Warnings()
    warnings.showwarning = shown
    if hasattr(signal, "SIGPIPE"):  # a reader that leaves early ends us quietly, as it does every filter
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    code = _code()
    shown.finish()
    sys.exit(code)


def _code() -> int:
    try:
        result = app(standalone_mode=False, prog_name="fernn")
        sys.stdout.flush()
        return result if isinstance(result, int) else FINE
    except UsageError as error:
        error.message = excerpt(error.message, LONGEST_LINE)
        error.show()
        if "No such option" in str(error) and any(word[:1] == "-" and " " in word for word in sys.argv):
            complain("A formula that begins with '-' goes behind --, as in: fernn formula simplify -- '-x >= 1'")
        if "--json" in sys.argv:
            print(as_json({"error": error.format_message(), "exit": BAD_USAGE}))
        return BAD_USAGE
    except typer.Exit as leave:
        if leave.exit_code == INTERRUPTED:  # what some versions of typer make of a Ctrl-C
            complain("interrupted")
        return leave.exit_code
    except (typer.Abort, KeyboardInterrupt):
        complain("interrupted")
        return INTERRUPTED
    except (DataError, RunError, SignalError, OSError) as error:
        return _print_error(error, BAD_DATA)
    except FernnError as error:
        return _print_error(error, BAD_USAGE)


def _print_error(error: Exception, code: int) -> int:
    """The error on standard error, and as JSON on standard output for those who asked for JSON."""
    text = str(error)
    if isinstance(error, OSError) and error.strerror:
        named = "" if error.filename is None else f": {excerpt(str(error.filename), LONGEST_LINE)}"
        text = f"{error.strerror}{named}"
    complain(text)
    if "--json" in sys.argv:
        print(as_json({"error": text, "exit": code}))
    return code
