"""The routes: each takes what a page sends, hands it on, and answers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import Response

from .. import __version__
from ..data import Dataset, data_card
from ..data.file_checks import format_size
from ..formula import Formula
from ..report import view
from ..report.view.classes import chosen, class_traces
from ..runs import METHODS, Run, learner, load_rules, parts, plan
from . import earlier
from .access import Access
from .answers import Refused, body, explain, field, share, told, within, worked
from .columns import columns, kind
from .datasets import Datasets, Look, Mask, asked, held_out, in_order
from .files import Files, data_sets
from .guard import REPORT_POLICY, Guard
from .jobs import Jobs
from .pages import page
from .reading import as_word
from .reports import report
from .rules import exported, fitted, moved
from .views import differences, equivalence, recorded, viewed, warm

TOO_LARGE = "Take some of its cases (fernn sample FILE -o PART.csv), or open it with fernn studio FILE, which does so."


@dataclass(frozen=True)
class Studio:
    """What the routes work on; nothing in it is of one tab, and all but caches is on disk."""

    folder: Path
    files: Files
    datasets: Datasets
    jobs: Jobs


def application(studio: Studio, port: int, access: Access) -> Guard:
    """The studio as a server runs it, behind its guard."""

    @asynccontextmanager
    async def living(_: FastAPI) -> AsyncIterator[None]:
        Thread(target=warm, daemon=True).start()
        yield
        studio.jobs.close()

    app = FastAPI(lifespan=living, openapi_url=None, docs_url=None, redoc_url=None)
    explain(app)
    _about_files(app, studio)
    _about_data(app, studio)
    _about_jobs(app, studio)
    _about_runs(app, studio)

    @app.get("/api/hello")
    async def hello() -> Response:
        given = studio.files.given
        methods = [{"name": name, "line": one.line, "settings": one.defaults} for name, one in METHODS.items()]
        return told({
            "version": __version__, "folder": str(studio.folder), "upload_limit": studio.files.limit,
            "file": None if given is None else given.id, "methods": methods, "datasets": data_sets(),
        })  # fmt: skip

    @app.post("/api/address")
    async def address() -> Response:
        return told({"address": f"http://127.0.0.1:{port}/?token={access.issue()}", "seconds": access.life})

    @app.post("/api/export")
    async def export(request: Request) -> Response:
        given = await body(request)

        def work() -> Any:
            look = None if given.get("data") is None else studio.datasets.data(field(given, "data", str))
            data = None if look is None else look.data
            return exported(field(given, "formula", str), field(given, "to", str), data)

        return told(await worked(work))

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
        return told([file.told() for file in await worked(files.all)])

    @app.post("/api/files")
    async def upload(request: Request) -> Response:
        what = f"an upload (--upload-limit, fernn studio FILE has none; now {format_size(files.limit)})"
        taken = await files.take(request.query_params.get("name", ""), within(request, files.limit, what, TOO_LARGE))
        return told(taken.told())

    @app.post("/api/files/{name}/look")
    async def look(name: str, request: Request) -> Response:
        return told(await worked(looked, name, await body(request)))

    def looked(name: str, given: dict[str, Any]) -> dict[str, Any]:
        file = files.find(name)
        chosen = asked(file, given)
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
            "data": None if found.data is None else as_word(file.id, chosen),
        }  # fmt: skip


def _about_data(app: FastAPI, studio: Studio) -> None:
    def found(word: str, given: dict[str, Any]) -> tuple[Look, Dataset, Run | None]:
        look = studio.datasets.data(word)
        assert look.data is not None
        run = None if given.get("run") is None else earlier.find(studio.folder, field(given, "run", str))
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
                data = data if rules is None else chosen(rules, data, given["class"])
                return recorded(view.part, data, *ends, from_end)
            if rules is None:
                return recorded(view.traces, data, None, from_end)
            return viewed(class_traces, rules, data, given["class"], None, from_end)

        return told(await worked(work))

    def asked_of(what: str, answer: Callable[[dict[str, Any], Dataset, Mask | None], Any]) -> None:
        """A route that takes what is asked, the data, and which of its cases the run kept for the test."""

        @app.post(f"/api/data/{{word}}/{what}", name=what)
        async def route(word: str, request: Request) -> Response:
            given = await body(request)

            def work() -> Any:
                look, data, run = found(word, given)
                if run is not None and given.get("class") is not None:  # as the rule of this class is to judge them
                    data = chosen(load_rules(run)[0], in_order(data, run), field(given, "class", str))
                return answer(given, data, held_out(look, run))

            return told(await worked(work))

    def rule(given: dict[str, Any], data: Dataset, name: str = "formula") -> Formula:
        return fitted(field(given, name, str), data)

    def lanes(given: dict[str, Any], data: Dataset, test: Mask | None) -> Any:
        case = field(given, "case", int)
        if not 0 <= case < len(data):
            raise Refused(f"'case' is the number of a trace, from 0 to {len(data) - 1}; found {str(case)[:30]}.")
        return viewed(view.lanes, rule(given, data), data, case)

    def differ(given: dict[str, Any], data: Dataset, test: Mask | None) -> Any:
        a, b = (viewed(view.reading, rule(given, data, name), data, test) for name in ("a", "b"))
        return {"cases": differences(a["holds"], b["holds"], data), "a": a, "b": b}

    asked_of("read", lambda given, data, test: viewed(view.reading, moved(rule(given, data), given), data, test))
    asked_of("sensitivity", lambda given, data, test: viewed(view.sensitivity, rule(given, data), data, test))
    asked_of("lanes", lanes)
    asked_of("differ", differ)

    def same(given: dict[str, Any], data: Dataset, test: Mask | None) -> Any:
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
        return told({"run": await worked(started, await body(request))})

    def started(given: dict[str, Any]) -> str:
        """Whatever can be known to be wrong is told before a process begins."""
        file = studio.files.find(field(given, "file", str))
        chosen = asked(file, field({"reading": {}, **given}, "reading", dict))
        method = field({"method": "fernn", **given}, "method", str)
        settings = field({"settings": {}, **given}, "settings", dict)
        test = given.get("test", 0.2)
        if type(test) not in (int, float) or not 0 <= test < 1:
            raise Refused(
                f"'test' is the share of the traces kept for the test, from 0 up to 1; found {str(test)[:30]}."
            )
        look = studio.datasets.data(as_word(file.id, chosen))
        assert look.data is not None
        planned = plan(file.path, chosen, method, settings, test)
        parts(look.data, test, planned["split"]["seed"])
        learner(method, planned["learner"], look.data)
        order = {"file": file.path, "reading": chosen, "method": method, "settings": settings, "test": test}
        return jobs.start(look.data.name, order)

    @app.get("/api/jobs")
    async def all_jobs() -> Response:
        return told(jobs.all())

    @app.get("/api/jobs/{name}")
    async def job(name: str) -> Response:
        return told(await worked(jobs.told, name))

    @app.post("/api/jobs/{name}/stop")
    async def stop(name: str) -> Response:
        return told(jobs.stop(name))


def _about_runs(app: FastAPI, studio: Studio) -> None:
    @app.get("/api/runs")
    async def runs() -> Response:
        return told(await worked(earlier.listed, studio.folder))

    @app.get("/api/runs/{name}")
    async def run(name: str) -> Response:
        return told(await worked(lambda: earlier.opened(earlier.find(studio.folder, name), studio.datasets)))

    @app.get("/api/runs/{name}/rivals")
    async def rivals(name: str, tolerance: str = "") -> Response:
        def work() -> dict[str, Any]:
            near = share(tolerance, "tolerance") if tolerance else None
            run = earlier.find(studio.folder, name)
            _, word, problem = earlier.where(run, studio.datasets)
            if word is None:
                raise Refused(problem or "the data are not there any more.", 409)
            data = studio.datasets.data(word).data
            assert data is not None
            return earlier.rivals(run, data, near)

        return told(await worked(work))

    @app.get("/api/runs/{name}/report")
    async def as_page(name: str) -> Response:
        text = await worked(lambda: report(earlier.find(studio.folder, name)))
        return Response(text, media_type="text/html", headers={"content-security-policy": REPORT_POLICY})
