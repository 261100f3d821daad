"""The application: its routes, each of which takes what a page sends, hands it on, and answers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from math import isfinite
from pathlib import Path
from threading import Thread
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import Response

from .. import __version__
from ..data import Dataset, data_card
from ..data.arrays import Bools
from ..data.file_checks import format_size
from ..data.problems import unknown_channel
from ..errors import FormulaError
from ..formula import TARGETS, Formula, channels, export_formula, is_template, parse, with_thresholds
from ..formula.nodes import children
from ..report import view
from ..report.page import NAME, write_report
from ..report.quantities import expressions as expressions_of
from ..report.reach import axis_for
from ..report.view.class_view import class_traces, relabel_for
from ..runs import METHODS, Run, learner, load_rules, parts, plan
from . import stored_runs
from .access import REPORT_POLICY, Access, Guard
from .data_files import (
    CachedRead,
    DatasetCache,
    Files,
    columns,
    data_id,
    data_sets,
    in_order,
    kind,
    reading_for,
    test_mask,
)
from .jobs import Jobs
from .json_api import Refused, add_error_handlers, field, json_response, read_body, read_within, run_in_thread, share
from .stored_runs import differences, draw_alone, draw_quietly, draw_recording, equivalence, warm_up

KINDS = {
    "html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml", "png": "image/png", "ico": "image/x-icon", "json": "application/json",
}  # fmt: skip
HOMES = (("fernn.report", "web"), ("fernn.studio", "web"))
"""Where they lie; of two with the same name the studio's is taken."""


@cache
def names() -> dict[str, Traversable]:
    """Every file that is served, by its name: whatever else is asked for is not there."""
    found: dict[str, Traversable] = {}
    for package, folder in HOMES:
        place = files(package).joinpath(folder)
        if place.is_dir():
            found |= {file.name: file for file in place.iterdir() if file.is_file() and _ending(file.name) in KINDS}
    return found


def page(name: str) -> tuple[bytes, str] | None:
    """The file and its kind; read anew each time, so that a change shows at a reload."""
    file = names().get(name)
    return None if file is None else (file.read_bytes(), KINDS[_ending(name)])


def _ending(name: str) -> str:
    return name.rpartition(".")[2]


def report(run: Run) -> bytes:
    """The page; a link in the place of the file is not followed."""
    path = run.folder / NAME
    if path.is_symlink():
        raise Refused(f"{path} is a link to elsewhere. Remove it; the report is then made anew.", 409)
    if not path.is_file():
        if (run.front() is None and run.rules() is None) or "reading" not in run.settings:
            raise Refused(f"{run.folder.name} has found no formula yet, so there is nothing to report.", 409)
        write_report(run.folder)
    return path.read_bytes()


LONGEST = 2000
"""Letters of a formula, at most."""
MOST, DEEPEST = 100, 60
"""Atoms and operators, and operators within operators, at most: what has more takes minutes to draw."""

SPLIT = "split the formula into several"


def parse_rule(text: str) -> Formula:
    """The formula, nothing in it open; short and flat enough to work on."""
    if len(text) > LONGEST:
        raise FormulaError(f"a formula of {len(text)} letters, at most {LONGEST} are read", text[:LONGEST], LONGEST)
    try:
        found = parse(text)
    except RecursionError:
        raise FormulaError("operators within operators without end", text, 0, SPLIT) from None
    parts, depth = _size(found)
    if parts > MOST:
        raise FormulaError(f"more than {MOST} atoms and operators", text, 0, SPLIT)
    if depth > DEEPEST:
        raise FormulaError(f"more than {DEEPEST} operators within each other", text, 0, SPLIT)
    if is_template(found):
        raise FormulaError("the formula has open choices; write what each is to be, or learn with it as a template")
    return found


def parse_rule_for(text: str, data: Dataset) -> Formula:
    """As `rule`, of channels that the data have."""
    found = parse_rule(text)
    for name in channels(found):
        if name not in data.channels:
            at = max(text.find(name), 0)
            raise FormulaError(unknown_channel(name, data.channels, f"{data.name} has"), text, at)
    return found


def set_thresholds(formula: Formula, given: dict[str, Any]) -> Formula:
    """With the thresholds that the request has, if it has any."""
    if given.get("thresholds") is None:
        return formula
    values = field(given, "thresholds", list)
    if not all(type(value) in (int, float) and abs(value) < 1e300 and isfinite(value) for value in values):
        raise Refused("'thresholds' is a list of numbers, one for every atom of the formula.")
    return with_thresholds(formula, [float(value) for value in values])


def export_rule(text: str, to: str, data: Dataset | None = None) -> dict[str, str]:
    """The formula for another tool, and a name for the file; with data, their time between samples at its head."""
    if to != "text" and to not in TARGETS:
        raise Refused(f"'to' is one of text, {', '.join(TARGETS.names)}; found {to[:50]!r}.")
    found = parse_rule(text)
    dt, unit = (None, None) if data is None else (data.dt, data.time_unit)
    written = str(found) if to == "text" else export_formula(found, to, dt, unit)
    name = "" if to == "text" else TARGETS[to].file
    return {"name": name or "formula.txt", "text": written if written.endswith("\n") else written + "\n"}


def _size(formula: Formula) -> tuple[int, int]:
    """(parts, levels), without recursion; counts no further than is allowed."""
    parts, deepest, left = 0, 0, [(formula, 1)]
    while left and parts <= MOST:
        node, depth = left.pop()
        parts, deepest = parts + 1, max(deepest, depth)
        left += [(child, depth + 1) for child in children(node)]
    return parts, deepest


TOO_LARGE = "Take some of its cases (fernn sample FILE -o PART.csv), or open it with fernn studio FILE, which does so."


@dataclass(frozen=True)
class Studio:
    """What the routes work on; nothing in it is of one tab, and all but caches is on disk."""

    folder: Path
    files: Files
    datasets: DatasetCache
    jobs: Jobs


def application(studio: Studio, port: int, access: Access) -> Guard:
    """The studio as a server runs it, behind its guard."""

    @asynccontextmanager
    async def living(_: FastAPI) -> AsyncIterator[None]:
        Thread(target=warm_up, daemon=True).start()
        yield
        studio.jobs.close()

    app = FastAPI(lifespan=living, openapi_url=None, docs_url=None, redoc_url=None)
    add_error_handlers(app)
    _about_files(app, studio)
    _about_data(app, studio)
    _about_jobs(app, studio)
    _about_runs(app, studio)

    @app.get("/api/hello")
    async def hello() -> Response:
        given = studio.files.given
        methods = [{"name": name, "line": one.line, "settings": one.defaults} for name, one in METHODS.items()]
        targets = [{"name": "text", "title": "Text"}]
        targets += [{"name": name, "title": one.title or name} for name, one in TARGETS.items()]
        return json_response({
            "version": __version__, "folder": str(studio.folder), "upload_limit": studio.files.limit,
            "file": None if given is None else given.id, "methods": methods, "targets": targets,
            "datasets": data_sets(),
        })  # fmt: skip

    @app.post("/api/address")
    async def address() -> Response:
        return json_response({"address": f"http://127.0.0.1:{port}/?token={access.issue()}", "seconds": access.life})

    @app.post("/api/export")
    async def export(request: Request) -> Response:
        given = await read_body(request)

        def work() -> Any:
            look = None if given.get("data") is None else studio.datasets.data(field(given, "data", str))
            data = None if look is None else look.data
            return export_rule(field(given, "formula", str), field(given, "to", str), data)

        return json_response(await run_in_thread(work))

    @app.get("/{name:path}")
    async def static(name: str) -> Response:
        found = page(name or "index.html")
        if found is None:
            raise Refused(f"there is no page {name[:100]!r}.", 404)
        return Response(found[0], media_type=found[1])

    return Guard(app, port, access)


def _about_files(app: FastAPI, studio: Studio) -> None:
    files, datasets = studio.files, studio.datasets

    @app.get("/api/files")
    async def known() -> Response:
        return json_response([file.told() for file in await run_in_thread(files.all)])

    @app.post("/api/files")
    async def upload(request: Request) -> Response:
        what = f"an upload (--upload-limit, fernn studio FILE has none; now {format_size(files.limit)})"
        taken = await files.take(
            request.query_params.get("name", ""), read_within(request, files.limit, what, TOO_LARGE)
        )
        return json_response(taken.told())

    @app.post("/api/files/{name}/look")
    async def look(name: str, request: Request) -> Response:
        return json_response(await run_in_thread(looked, name, await read_body(request)))

    def looked(name: str, given: dict[str, Any]) -> dict[str, Any]:
        file = files.find(name)
        chosen = reading_for(file, given)
        found = datasets.look(file, chosen)
        problems = [
            {
                "severity": p.severity, "kind": p.kind, "where": p.where, "what": p.what, "fix": p.fix,
                "choices": list(p.choices),
            }
            for p in found.problems
        ]  # fmt: skip
        return {
            "card": None if found.data is None else data_card(found.data).to_json(), "problems": problems,
            "columns": columns(file, chosen, found.data), "reading": chosen, "name": file.name, "kind": kind(file),
            "data": None if found.data is None else data_id(file.id, chosen),
        }  # fmt: skip


def _about_data(app: FastAPI, studio: Studio) -> None:
    def found(word: str, given: dict[str, Any]) -> tuple[CachedRead, Dataset, Run | None]:
        look = studio.datasets.data(word)
        assert look.data is not None
        run = None if given.get("run") is None else stored_runs.find_run(studio.folder, field(given, "run", str))
        return look, look.data, run

    @app.get("/api/data/{word}/traces")
    async def all_traces(word: str, request: Request) -> Response:
        given = {name: request.query_params[name] for name in ("run", "class") if name in request.query_params}
        from_end = request.query_params.get("from_end") in ("1", "true")
        named = [request.query_params[name] for name in ("first", "last") if name in request.query_params]
        ends = None if not named else _ends(named)

        def work() -> Any:
            _, data, run = found(word, {"run": given.get("run")})
            rules = None
            if run is not None and "class" in given:
                rules, data = load_rules(run)[0], in_order(data, run)
            if ends is not None:
                data = data if rules is None else relabel_for(rules, data, given["class"])
                return draw_recording(view.part, data, *ends, from_end)
            if rules is None:
                return draw_recording(view.traces, data, None, from_end)
            return draw_alone(class_traces, rules, data, given["class"], None, from_end)

        return json_response(await run_in_thread(work))

    def asked_of(what: str, answer: Callable[[dict[str, Any], Dataset, Bools | None], Any]) -> None:
        """A route that takes what is asked, the data, and which of its cases the run kept for the test."""

        @app.post(f"/api/data/{{word}}/{what}", name=what)
        async def route(word: str, request: Request) -> Response:
            given = await read_body(request)

            def work() -> Any:
                look, data, run = found(word, given)
                if run is not None and given.get("class") is not None:  # as the rule of this class is to judge them
                    data = relabel_for(load_rules(run)[0], in_order(data, run), field(given, "class", str))
                return answer(given, data, test_mask(look, run))

            return json_response(await run_in_thread(work))

    def rule(given: dict[str, Any], data: Dataset, name: str = "formula") -> Formula:
        return parse_rule_for(field(given, name, str), data)

    def lanes(given: dict[str, Any], data: Dataset, test: Bools | None) -> Any:
        case = field(given, "case", int)
        if not 0 <= case < len(data):
            raise Refused(f"'case' is the number of a trace, from 0 to {len(data) - 1}; found {str(case)[:30]}.")
        return draw_alone(view.lanes, rule(given, data), data, case)

    def expressions(given: dict[str, Any], data: Dataset, test: Bools | None) -> Any:
        found = rule(given, data)
        compared = expressions_of([found])
        if not compared:
            raise Refused("the formula compares channels only; their traces are at .../traces.")
        span = (field(given, "first", int), field(given, "last", int)) if "first" in given or "last" in given else None
        return draw_quietly(view.expression_points, compared, data, axis_for(data, [found]).from_end, span)

    def differ(given: dict[str, Any], data: Dataset, test: Bools | None) -> Any:
        a, b = (draw_alone(view.reading, rule(given, data, name), data, test) for name in ("a", "b"))
        return {"cases": differences(a["holds"], b["holds"], data), "a": a, "b": b}

    asked_of(
        "read", lambda given, data, test: draw_alone(view.reading, set_thresholds(rule(given, data), given), data, test)
    )
    asked_of("sensitivity", lambda given, data, test: draw_alone(view.sensitivity, rule(given, data), data, test))
    asked_of("lanes", lanes)
    asked_of("expressions", expressions)
    asked_of("differ", differ)

    def same(given: dict[str, Any], data: Dataset, test: Bools | None) -> Any:
        return equivalence(rule(given, data, "a"), rule(given, data, "b"), given, data)

    asked_of("equiv", same)


def _ends(words: list[str]) -> tuple[int, int]:
    """The first and the last sample of a part."""
    try:
        first, last = (int(word[:20]) for word in words)
    except ValueError:
        found = " and ".join(repr(word[:30]) for word in words)
        raise Refused(f"a part of the traces is named by 'first' and 'last', whole numbers; found {found}.") from None
    return first, last


def _about_jobs(app: FastAPI, studio: Studio) -> None:
    jobs = studio.jobs

    @app.post("/api/jobs")
    async def start(request: Request) -> Response:
        return json_response({"run": await run_in_thread(started, await read_body(request))})

    def started(given: dict[str, Any]) -> str:
        """Whatever can be known to be wrong is told before a process begins."""
        file = studio.files.find(field(given, "file", str))
        chosen = reading_for(file, field({"reading": {}, **given}, "reading", dict))
        method = field({"method": "fernn", **given}, "method", str)
        settings = field({"settings": {}, **given}, "settings", dict)
        test = given.get("test", 0.2)
        if type(test) not in (int, float) or not 0 <= test < 1:
            raise Refused(
                f"'test' is the share of the traces kept for the test, from 0 up to 1; found {str(test)[:30]}."
            )
        look = studio.datasets.data(data_id(file.id, chosen))
        assert look.data is not None
        planned = plan(file.path, chosen, method, settings, test)
        parts(look.data, test, planned["split"]["seed"])
        learner(method, planned["learner"], look.data)
        order = {"file": file.path, "reading": chosen, "method": method, "settings": settings, "test": test}
        return jobs.start(look.data.name, order)

    @app.get("/api/jobs")
    async def all_jobs() -> Response:
        return json_response(jobs.all())

    @app.get("/api/jobs/{name}")
    async def job(name: str) -> Response:
        return json_response(await run_in_thread(jobs.told, name))

    @app.post("/api/jobs/{name}/stop")
    async def stop(name: str) -> Response:
        return json_response(jobs.stop(name))


def _about_runs(app: FastAPI, studio: Studio) -> None:
    @app.get("/api/runs")
    async def runs() -> Response:
        return json_response(await run_in_thread(stored_runs.list_runs, studio.folder))

    @app.get("/api/runs/{name}")
    async def run(name: str) -> Response:
        return json_response(
            await run_in_thread(
                lambda: stored_runs.open_run(stored_runs.find_run(studio.folder, name), studio.datasets)
            )
        )

    @app.get("/api/runs/{name}/rivals")
    async def rivals(name: str, tolerance: str = "") -> Response:
        def work() -> dict[str, Any]:
            near = share(tolerance, "tolerance") if tolerance else None
            run = stored_runs.find_run(studio.folder, name)
            _, word, problem = stored_runs.locate_data(run, studio.datasets)
            if word is None:
                raise Refused(problem or "the data are not there any more.", 409)
            data = studio.datasets.data(word).data
            assert data is not None
            return stored_runs.describe_rivals(run, data, near)

        return json_response(await run_in_thread(work))

    @app.get("/api/runs/{name}/report")
    async def as_page(name: str) -> Response:
        text = await run_in_thread(lambda: report(stored_runs.find_run(studio.folder, name)))
        return Response(text, media_type="text/html", headers={"content-security-policy": REPORT_POLICY})
