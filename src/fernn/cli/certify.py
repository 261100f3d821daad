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

    Spaces of up to 200,000 formulas (20,000 of a template) are gone through one by one; of larger ones formulas are
    drawn at random. The file is read as it was for learning, unless reading options are given.
    """
    from ..data import flags
    from ..exact.audit import audit
    from ..runs.certifying import certified_part, read_certificate

    proof = read_certificate(certificate)
    if not flags(options):
        options = proof.content.get("reading") or options
    found = audit(proof, certified_part(proof, recording(file, options)), samples, seed)
    how = "all" if found.whole else "drawn at random"
    if json:
        told = {"stands": found.stands, "statement": proof.statement, "looked_at": found.looked_at}
        typer.echo(as_json({**told, "all": found.whole, "problems": list(found.problems)}))
    else:
        typer.echo(proof.statement)
        for problem in found.problems:
            typer.echo(f"wrong: {problem}")
        if found.stands:
            typer.echo(f"stands: {found.looked_at:,} formulas looked at ({how}), none does better")
    return 0 if found.stands else 1
