"""Fuzzing for a time: `python -m fuzz --seconds 600 --seed 0 [--only csv,npz] [--atheris]`, in the folder tests.

Inputs are changes of the corpus and of inputs that ended in a way not seen before. With atheris installed, --atheris
lets it choose them by the lines of fernn that they reach. Crashes are written to the folder `crashes`, which the tests
try again.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import sys
import time
from collections import Counter
from hashlib import blake2b
from random import Random

if "--atheris" in sys.argv:  # it sees the branches of what is imported under its eyes
    import atheris

    with atheris.instrument_imports(include=["fernn.formula", "fernn.data", "fernn.runs", "fernn.formula.json_fields"]):
        import fernn.data
        import fernn.formula.export
        import fernn.runs  # noqa: F401

from .judging import Outcome, tried
from .mutating import mutated
from .targets import CORPUS, CRASHES, TARGETS, Target, room

POOL = 400
"""Inputs kept of each target, beside the corpus."""
COMPILED = {"rule", "run", "state", "studio"}
"""Targets that run compiled code."""
MEMORY = 12 * 2**30
"""Bytes of address space: what asks for more gets a MemoryError, which is a crash."""


class Campaign:
    """Counts what happened, and keeps the first input of every crash."""

    def __init__(self, keep: bool = True) -> None:
        self.keep = keep
        self.inputs: Counter[str] = Counter()
        self.signs: dict[str, int] = {}
        self.sites: dict[str, int] = {}

    def judge(self, target: Target, data: bytes) -> Outcome:
        outcome = tried(target, data)
        self.inputs[target.name] += 1
        if outcome.crash is not None:
            site = outcome.crash.site
            self.sites[site] = self.sites.get(site, 0) + 1
            if self.sites[site] == 1:
                if self.keep:
                    folder = CRASHES / target.name
                    folder.mkdir(parents=True, exist_ok=True)
                    (folder / blake2b(data, digest_size=6).hexdigest()).write_bytes(data)
                print(f"crash: {site}\n{outcome.crash.story}", file=sys.stderr, flush=True)
        return outcome

    def is_new(self, outcome: Outcome) -> bool:
        """Whether nothing ended so before."""
        self.signs[outcome.sign] = self.signs.get(outcome.sign, 0) + 1
        return self.signs[outcome.sign] == 1

    def summary(self, seconds: float) -> str:
        each = ", ".join(f"{name} {count}" for name, count in sorted(self.inputs.items()))
        total, crashes = sum(self.inputs.values()), sum(self.sites.values())
        return (
            f"{total} inputs in {seconds:.0f} s, {len(self.signs)} ways to end; "
            f"{crashes} crashes at {len(self.sites)} places ({each})"
        )


def fuzzed(targets: list[Target], seconds: float, seed: int, most: int | None = None, keep: bool = True) -> Campaign:
    """The corpus as it is, then changes of it until the time is over."""
    random, campaign = Random(seed), Campaign(keep)
    pools = {target.name: target.seeds for target in targets}
    kept: dict[str, list[bytes]] = {target.name: [] for target in targets}
    for target in targets:
        for data in pools[target.name]:
            campaign.is_new(campaign.judge(target, data))
    end, shares = time.monotonic() + seconds, [target.share for target in targets]
    while time.monotonic() < end and (most is None or sum(campaign.inputs.values()) < most):
        target = random.choices(targets, shares)[0]
        pool = [*pools[target.name], *kept[target.name]] or [b""]
        data = mutated(random, target.kind, random.choice(pool), random.choice(pool))
        if campaign.is_new(campaign.judge(target, data)):
            kept[target.name] = [*kept[target.name], data][-POOL:]
    return campaign


def guided(target: Target, seconds: float, seed: int) -> None:
    """One target, its inputs chosen by atheris, whose engine ends with the process."""
    campaign, began = Campaign(), time.monotonic()

    def one(data: bytes) -> None:
        campaign.judge(target, data)
        if time.monotonic() - began > seconds:
            print(campaign.summary(time.monotonic() - began), flush=True)
            shutil.rmtree(room(), ignore_errors=True)
            os._exit(1 if campaign.sites else 0)

    found = room() / "found"
    found.mkdir()
    flags = [f"-seed={seed + 1}", "-handle_alrm=0", "-timeout=0", "-rss_limit_mb=0", "-max_len=4000", "-verbosity=0"]
    atheris.Setup([sys.argv[0], *flags, str(found), str(CORPUS / target.name)], one)
    atheris.Fuzz()


def main() -> None:
    asked = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    asked.add_argument("--seconds", type=float, default=60)
    asked.add_argument("--inputs", type=int, default=None, help="stop after so many")
    asked.add_argument("--seed", type=int, default=0)
    asked.add_argument("--only", default="", help=f"some of {', '.join(TARGETS)}")
    asked.add_argument("--atheris", action="store_true", help="let atheris choose the inputs, of one target")
    given = asked.parse_args()
    names = [name for name in given.only.split(",") if name] or list(TARGETS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.RLIM_INFINITY))
    began = time.monotonic()
    targets = [TARGETS[name] for name in names]
    if given.atheris and COMPILED & set(names[:1]):
        asked.error(f"atheris changes code, which numba then cannot compile: not with {', '.join(sorted(COMPILED))}")
    if given.atheris:
        guided(targets[0], given.seconds, given.seed)
        return
    campaign = fuzzed(targets, given.seconds, given.seed, given.inputs)
    print(campaign.summary(time.monotonic() - began))
    sys.exit(1 if campaign.sites else 0)


if __name__ == "__main__":
    main()
