"""Learning from data larger than memory: the sample that is learned from, and what all of it says then."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .output import complain
from .reading import warned
from .streaming import followed
from .where import by_file, is_parted

if TYPE_CHECKING:
    from ..data.streaming.stratified_sample import StreamSample
    from ..runs import Outcome, RulesOutcome

MEGABYTES = 32.0


def sample_of(file: str, options: dict[str, Any], megabytes: float | None, seed: int) -> StreamSample:
    """Whole traces, the same share of each label; what there is to say of it goes to standard error."""
    from ..data.options import suggest_command
    from ..data.streaming import open_source
    from ..data.streaming.stratified_sample import sample_stream

    source = open_source(file, options)
    with followed("sampling") as wants_end:
        found = sample_stream(source, _bytes(megabytes, options.get("memory_limit")), seed, watch=wants_end)
        stopped = wants_end.stop is not None and wants_end.stop.asked
    if stopped:
        raise KeyboardInterrupt
    why = "is larger than memory allows" if Path(file).is_file() else "is a folder, which is read in pieces"
    why = why if megabytes is None else "is sampled, as --sample asks"
    if found.problems:
        warned(suggest_command("check", [file], options), found.problems)
    complain(f"{file} {why}: learning from {found}")
    return found


def _bytes(megabytes: float | None, limit: int | None) -> int:
    """The size of the sample: as asked, or what learning has room for within a memory limit."""
    most = int((megabytes or MEGABYTES) * 1e6)
    return most if megabytes is not None or limit is None else max(min(most, limit // 4), 1)


def judged_by_all(done: Outcome | RulesOutcome) -> Outcome | RulesOutcome:
    """With the errors on all the data, where what was learned from is a sample of them."""
    from ..data.streaming import open_source
    from ..runs import Outcome
    from ..runs.out_of_core import judge_on_all, judge_on_all_by_parts

    sample = done.job.settings.get("sample")
    if sample is None or not isinstance(done, Outcome):
        return done
    total, kept = sum(sample["met"].values()), sum(sample["kept"].values())
    notes = [f"learned from a sample: {kept} of {total} traces of {sample['of']}"]
    papers = {}
    if len(done.job.data.classes) == 2:
        source = open_source(sample["of"], sample["reading"])
        if is_parted(source):
            with by_file("judged by all") as told:
                found = judge_on_all_by_parts(done.front, done.job.data, source, told=told)
        else:
            with followed("judged by all") as wants_end:
                found = judge_on_all(done.front, done.job.data, source, watch=wants_end)
        notes += found.notes(done.front)
        papers["all.json"] = found.to_json()
    if done.job.run is not None:
        done.job.run.add_notes(notes, papers)
    return replace(done, notes=(*done.notes, *notes))
