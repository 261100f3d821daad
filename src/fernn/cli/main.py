"""The `fernn` command, and what its exit codes mean.

Nothing heavy is imported here: `fernn --help` has to answer at once.
"""

from __future__ import annotations

import inspect
import re
import signal
import sys
import warnings
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from ..errors import LONGEST_LINE, DataError, FernnError, RunError, SignalError, UnsupportedError, excerpt
from .check_rule import ask, believe, certify, equiv, rivals
from .common_options import READING
from .compare import compare, methods, reproduce
from .demo import demo
from .evaluate import evaluate, explain
from .formulas import export, simplify
from .learn import learn
from .live import drift, monitor
from .look import plot, report, studio
from .mine import cause, params
from .output import INTERRUPTED, Warnings, as_json, complain
from .recordings import check, generate, sample
from .results import classify

NUMBA_SETTINGS = Path(".numba_config.yaml")
"""Read by numba from the working folder as soon as it is imported."""
FINE, VIOLATED, BAD_DATA, BAD_USAGE = 0, 1, 2, 3
UsageError: Any = typer.BadParameter.__base__  # typer's own or click's, whichever this typer stands on

GROUPS: dict[str, tuple[Callable[..., Any], ...]] = {
    "Learn": (learn, methods, compare),
    "Look": (check, report, plot, studio),
    "Use": (evaluate, explain, monitor, drift, export),
    "Check a rule": (believe, rivals, ask),
}
"""What the first screen shows, besides the commands of `formula`."""
MORE: tuple[Callable[..., Any], ...] = (cause, certify, classify, demo, generate, params, reproduce, sample)
"""Named at the end of it."""
FORMULA: tuple[Callable[..., Any], ...] = (simplify, equiv)
"""Commands of `fernn formula`, which were commands of their own; those names still work, and say the new ones."""


def _target_names() -> str:
    from ..formula import TARGETS

    return ", ".join(TARGETS.names)


def _engine_names() -> str:
    from ..engines.resolve import ENGINES

    return ", ".join(ENGINES.names)


def _word(match: re.Match[str]) -> str:
    """What a word in braces stands for in the help of an option: the names of a registry, or a setting's sentence."""
    from ..learners.learner_registry import METHODS, SETTINGS

    lists: dict[str, Callable[[], str]] = {
        "targets": _target_names,
        "engines": _engine_names,
        "methods": lambda: ", ".join(METHODS.names),
    }
    return lists[match[1]]() if match[1] in lists else SETTINGS[match[1]]


HELP = "Help"
COLUMNS = ("label", "good", "group")
"""The reading options that most need; the others are in `--help-all`."""
PANELS: dict[str, dict[str, tuple[str, ...]]] = {
    "learn": {
        "Data": COLUMNS,
        "Learning": ("method", "max_length", "intervals", "more", "test", "seed", "time_limit"),
        "Run": ("out", "resume", "engine"),
        "Which rules are searched": (
            "past", "no_since", "atoms", "signals", "template", "prior", "guess", "time_units", "class_weight",
            "miss_cost", "false_alarm_cost",
        ),
        "Several classes, or one": ("classes", "order", "one_class", "share"),
        "What is shown": ("no_report", "quiet", "json"),
    },
    "compare": {
        "Data": COLUMNS,
        "Comparison": ("methods", "lengths", "splits", "baselines", "limit"),
        "Run": ("out", "workers", "engine"),
        "Which rules are searched": (
            "past", "no_since", "intervals", "atoms", "signals", "class_weight", "miss_cost", "false_alarm_cost",
        ),
        "What is shown": ("quiet", "json"),
    },
    "cause": {
        "Data": ("label_per_sample", "faulty", "group"),
        "Rules": ("max_length", "max_rules", "reach", "miss_cost", "false_alarm_cost"),
        "Run": ("test", "seed", "time_limit", "out"),
    },
}  # fmt: skip
"""The options of commands that have many, by panel; those that are in none are reading options, or `More options`."""
READING_PANEL, OTHER_PANEL = "How the file is read", "More options"
FOR_MORE = ("Which rules are searched", "Several classes, or one", "What is shown", READING_PANEL, OTHER_PANEL)
"""Panels that only `--help-all` shows."""
NOTES = {
    "learn": "fernn methods NAME shows the settings of a method, each with a sentence.",
    "compare": "fernn methods lists methods; fernn methods NAME shows the settings of one.",
}


class HelpfulCommand(TyperCommand):
    """A command whose help shows the options that matter, in panels, and all of them with `--help-all`."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        panels = {name: title for title, names in PANELS.get(self.name or "", {}).items() for name in names}
        place = {name: number for number, name in enumerate(panels)}
        titles = ("Arguments", *dict.fromkeys(panels.values()), "Options", OTHER_PANEL, READING_PANEL, HELP)
        sections: dict[str, list[tuple[str, str]]] = {title: [] for title in titles}
        for param in sorted(self.get_params(ctx), key=lambda param: place.get(param.name, len(place))):
            title = _panel(param, panels, ctx.meta.get(WHOLE, False), self.name in PANELS)
            record = param.get_help_record(ctx)
            if record is not None and (title not in FOR_MORE or WHOLE in ctx.meta):
                sections[title].append((_plain_type(record[0], title), _plain_help(record[1])))
        for title, rows in sections.items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        super().format_epilog(ctx, formatter)
        if self.name in NOTES:
            formatter.write_paragraph()
            formatter.write_text(NOTES[self.name])


WHOLE = "fernn.help_all"


def _show_all(ctx: typer.Context, wanted: bool) -> None:
    if wanted:
        ctx.meta[WHOLE] = True
        typer.echo(ctx.get_help())
        raise typer.Exit


HelpAll = Annotated[bool, typer.Option("--help-all", callback=_show_all, is_eager=True, help="Show all options.")]


def _with_help_all(command: Callable[..., Any]) -> Callable[..., Any]:
    """With `--help-all`, where some options are not shown at first."""
    signature = inspect.signature(command, eval_str=True)
    if _name(command) not in PANELS and "bad_rows" not in signature.parameters:
        return command

    @wraps(command)
    def wrapped(help_all: bool, **given: Any) -> Any:
        return command(**given)

    more = inspect.Parameter("help_all", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=HelpAll)
    parameters = [*signature.parameters.values(), more]
    wrapped.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    wrapped.__annotations__ = {each.name: each.annotation for each in parameters}
    return wrapped


def _panel(param: Any, panels: dict[str, str], everything: bool, is_grouped: bool) -> str:
    """Under which title an option is shown."""
    if param.param_type_name == "argument":
        return "Arguments"
    if param.name in panels:
        return panels[param.name]
    if param.name in ("help", "help_all"):
        return HELP if is_grouped else "Options"
    if param.name in READING and (everything or param.name not in COLUMNS):
        return READING_PANEL
    return OTHER_PANEL if is_grouped else "Options"


def _plain_type(text: str, title: str) -> str:
    """`--seed N` where typer writes `--seed <int range>`; an argument is its name."""
    if title == "Arguments":
        return re.sub(r" <.*>$", "", text)
    text = re.sub(r"<(int|float)( range)?>", "N", text)
    return re.sub(r"<(str|list\[str\])>", "TEXT", text.replace("<path>", "PATH"))


def _plain_help(text: str) -> str:
    """With what words in braces stand for, and without the ranges of numbers, which errors name."""
    text = re.sub(r"\{(\w+)\}", _word, text)
    text = re.sub(r"(; )?(\d[\d.]*<=)?x(<=|>=)\d[\d.]*", "", text)
    return text.replace("  []", "")


class GroupedCommands(TyperGroup):
    """The commands in groups, those that fewer people need by name only."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        groups = {title: [_name(each) for each in each_of] for title, each_of in GROUPS.items()}
        groups["Check a rule"].append("formula")
        width = formatter.width - 6 - max(len(name) for names in groups.values() for name in names)
        for title, names in groups.items():
            with formatter.section(title):
                formatter.write_dl([(name, self.commands[name].get_short_help_str(width)) for name in names])
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
    help="Simplify a formula, or compare two (simplify, equiv).", no_args_is_help=True, rich_markup_mode=None
)


def _name(command: Callable[..., Any]) -> str:
    return {"evaluate": "eval"}.get(command.__name__, command.__name__)


def _under_old_name(command: Callable[..., Any], old: str, new: str) -> Callable[..., Any]:
    """The command under its old name, which says the new one."""

    @wraps(command)
    def forward(**given: Any) -> Any:
        complain(f"note: fernn {old} is now called fernn {new}")
        return command(**given)

    return forward


for command in (*(each for group in GROUPS.values() for each in group), *MORE):
    app.command(name=_name(command), cls=HelpfulCommand)(_with_help_all(command))
for command in FORMULA:
    formula_app.command(name=_name(command), cls=HelpfulCommand)(command)
    app.command(name=_name(command), hidden=True)(_under_old_name(command, _name(command), f"formula {_name(command)}"))
app.command(name="watch", hidden=True)(_under_old_name(drift, "watch", "drift"))
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
    printed = Warnings()
    warnings.showwarning = printed
    if hasattr(signal, "SIGPIPE"):  # a reader that leaves early ends us quietly, as it does every filter
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    code = _code()
    printed.finish()
    sys.exit(code)


def _code() -> int:
    try:
        result = app(standalone_mode=False, prog_name="fernn")
        sys.stdout.flush()
        return result if isinstance(result, int) else FINE
    except UsageError as error:
        error.message = excerpt(error.message, LONGEST_LINE) + _setting_hint(error)
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


def _setting_hint(error: Any) -> str:
    """How to give a setting of a method that has no option of its own; nothing where no method has it."""
    name = str(getattr(error, "option_name", "")).lstrip("-").replace("-", "_")
    if not name or getattr(getattr(error, "ctx", None), "info_name", "") != "learn":
        return ""
    from ..learners import METHODS

    having = [method for method, one in METHODS.items() if name in one.defaults]
    return f". It is a setting of the method {' and '.join(having)}: write --set {name}=VALUE." if having else ""


def _print_error(error: Exception, code: int) -> int:
    """The error on standard error, and as JSON on standard output for those who asked for JSON."""
    text = str(error)
    if isinstance(error, OSError) and error.strerror:
        where = "" if error.filename is None else f": {excerpt(str(error.filename), LONGEST_LINE)}"
        text = f"{error.strerror}{where}"
    complain(text)
    if "--json" in sys.argv:
        print(as_json({"error": text, "exit": code}))
    return code
