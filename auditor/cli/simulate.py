"""The words of `tidemark simulate`: its options with their help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

SimulatedScript = Annotated[
    Path, typer.Argument(metavar="SCRIPT", help="A YAML file: brokers, versions, and what happens to them, in order.")
]
SimulatedVersion = Annotated[
    str | None,
    typer.Option("--version", metavar="VERSION", help="Run every broker as this Kafka version."),
]
SimulatedProtocol = Annotated[
    str | None,
    typer.Option(
        "--inter-broker-protocol",
        metavar="VERSION",
        help="Protocol that the brokers speak; the newest of VERSION otherwise.",
    ),
]
Compare = Annotated[
    bool, typer.Option("--compare", help="Run every generation of the protocol and print what each made of it.")
]
SimulatedFormat = Annotated[str, typer.Option("--format", metavar="FORMAT", help="terminal (default) or json.")]
SimulatedDump = Annotated[
    Path | None,
    typer.Option("--dump", metavar="DIR", help="Write what the brokers left, logs and metadata too, for `audit`."),
]
