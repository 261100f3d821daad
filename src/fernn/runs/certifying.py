"""A certificate brought back to the data it is about."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .. import __version__
from ..data import Dataset
from ..errors import DataError
from ..learners import Prior
from ..learners.enumerative.certificate import Certificate
from ..learners.informed import seen
from ..plain import read_json, told
from .learning import parts

PAPER = "certificate.json"
LARGEST = 100_000_000
"""Bytes of a certificate."""


def with_origin(papers: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """The papers of a fit; its certificate says how the data were read and split, and by which fernn."""
    more = {"split": dict(settings["split"]), "reading": settings["reading"], "fernn": __version__}
    return {name: {**paper, **more} if name == PAPER else paper for name, paper in papers.items()}


def read_certificate(path: str | Path) -> Certificate:
    """From a file, or from the folder of a run."""
    path = Path(path)
    path = path / PAPER if path.is_dir() else path
    try:
        if (size := path.stat().st_size) > LARGEST:
            raise DataError(f"{path} has {size:,} bytes, a certificate of fernn has at most {LARGEST:,}.")
        content = read_json(path.read_bytes())
    except FileNotFoundError:
        raise DataError(
            f"there is no {path}. An exact search writes one: fernn learn FILE --method enumerative --out RUN, "
            "without --preset."
        ) from None
    except ValueError as error:
        raise DataError(f"{path} is not JSON ({told(error)}), so it is no certificate of fernn.") from None
    return Certificate.from_json(content)


def certified_part(proof: Certificate, data: Dataset) -> Dataset:
    """The traces that the certificate is about: all of them, or those that were learned on, as its prior shows them."""
    wanted, split = proof.content["data"]["fingerprint"], proof.content.get("split")
    ways: list[Dataset] = [data]
    if split is not None and ("prior" in proof.content or data.fingerprint != wanted):
        ways.insert(0, parts(data, split["test"], split["seed"])[0])
    if "prior" in proof.content:
        prior = Prior.from_json(proof.content["prior"])
        ways = [shown for way in ways if (shown := seen(prior, way)[0]) is not None]
        if not ways:
            raise DataError("the prior of the certificate leaves no trace of these data, so there is nothing to check.")
    return next((way for way in ways if way.fingerprint == wanted), ways[-1])
