"""The worker's own settings, from its command line."""

import argparse
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

Tracker = Literal["trackio", "mlflow", "wandb"]


class ServeConfig(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    base_model: str | None = None  # folder or hub id to hold ready
    warm: bool = True
    device: str = "auto"
    threads: int | None = Field(default=None, ge=1, le=1024)
    tracker: Tracker | None = None
    digests: Path | None = None  # JSON file of what base models' files hash to
    heartbeat_seconds: float = Field(default=2.0, gt=0, le=60, allow_inf_nan=False)
    exit_seconds: float = Field(
        default=3.0, gt=0, le=5, allow_inf_nan=False
    )  # from the end of stdin to the end of the process


def parse_arguments(argv: Sequence[str]) -> ServeConfig:
    """Exits with status 2 and a sentence for arguments that are wrong."""
    parser = argparse.ArgumentParser(prog="python -m imprint_trainer", description="The trainer of Imprint.")
    commands = parser.add_subparsers(dest="command", required=True)
    serve = commands.add_parser("serve", help="answer requests on stdin with events on stdout, one JSON object a line")
    serve.add_argument("--base-model", help="folder or hub id of a base model to load before the first request")
    serve.add_argument(
        "--warm", action=argparse.BooleanOptionalAction, default=True, help="import and load right after ready"
    )
    serve.add_argument("--device", default="auto", choices=["auto", "cpu", "cuda"])
    serve.add_argument("--threads", type=int, help="default: one for each physical core")
    serve.add_argument("--tracker", choices=get_args(Tracker), help="where the numbers of trainings go too")
    serve.add_argument("--digests", type=Path, help="file to keep SHA-256 digests of base models in")
    serve.add_argument("--heartbeat-seconds", type=float, default=2.0)
    serve.add_argument("--exit-seconds", type=float, default=3.0, help="longest time to end in after stdin has ended")
    values = vars(parser.parse_args(argv))
    del values["command"]
    if values["tracker"] and find_spec(values["tracker"]) is None:
        install = f"{sys.executable} -m pip install {values['tracker']}"
        parser.error(f"the tracker {values['tracker']} is not installed beside the trainer: {install}")
    try:
        return ServeConfig(**values)
    except ValueError as error:
        parser.error(str(error))
