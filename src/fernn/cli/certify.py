"""The command that checks a certificate by other means than those that made it."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from .output import as_json
from .reading import File, Json, reads_a_file, recording


@reads_a_file
def certify(
    certificate: Annotated[str, typer.Argument(help="A certificate.json, or the folder of a run.", metavar="CERT")],
    file: File,
    samples: Annotated[int, typer.Option(help="Formulas drawn from spaces too large to go through.", min=1)] = 20_000,
    seed: Annotated[int, typer.Option(help="Of the draw.", min=0)] = 0,
    json: Json = False,
    options: Any = None,
) -> int:
    """Check that no formula of a certificate's space makes fewer errors on the data than it says.

    Spaces of up to 200,000 formulas (20,000 of a template) are checked whole: then the certificate stands or is wrong.
    Of larger ones formulas are drawn at random: then it is wrong or not refuted, which is no proof. The file is read
    as it was for learning, unless reading options are given.
    """
    from ..data import flags
    from ..learners.enumerative.audit import audit
    from ..learners.enumerative.certificate import describe_space
    from ..runs.job import read_certificate, select_certified

    proof = read_certificate(certificate)
    if not flags(options):
        options = proof.content.get("reading") or options
    data = recording(file, options)
    part = select_certified(proof, data)
    found = audit(proof, part, samples, seed)
    if json:
        told: dict[str, Any] = {"verdict": found.verdict, "stands": found.stands, "statement": proof.statement}
        told |= {"space": describe_space(proof.content), "cases": len(part), "of": len(data)}
        told |= {"looked_at": found.looked_at, "all": found.whole, "formulas": found.size}
        typer.echo(as_json({**told, "problems": list(found.problems)}))
    else:
        typer.echo(f"It says: {proof.statement}")
        typer.echo(f"about: {describe_space(proof.content)}")
        typer.echo(f"data: {len(part)} of the {len(data)} traces of {data.name}{_how(options)}")
        for problem in found.problems:
            typer.echo(f"wrong: {problem}")
        if not found.problems:
            typer.echo(found.sentence)
    return 1 if found.problems else 0


def _how(options: Any) -> str:
    """The options that the file is read with, where they are not the usual ones."""
    from ..data import flags

    words = flags(options or {})
    return f", read with {' '.join(words)}" if words else ""
