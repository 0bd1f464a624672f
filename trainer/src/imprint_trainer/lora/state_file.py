"""JSON files of a checkpoint folder, read with a sentence for whatever is wrong with them."""

import json
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from imprint_trainer.errors import CheckpointInvalid

MAX_BYTES = 64 * 2**20

Model = TypeVar("Model", bound=BaseModel)


def read_state_file(path: Path, model: type[Model], version: int) -> Model:
    """`version`: the `format` that this Imprint reads. Raises CheckpointInvalid."""
    name = path.name
    try:
        if path.stat().st_size > MAX_BYTES:
            raise CheckpointInvalid(f"{name} is too large")
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CheckpointInvalid(f"the checkpoint holds no {name}") from None
    except (ValueError, RecursionError) as error:
        raise CheckpointInvalid(f"{name} is not JSON") from error
    if isinstance(value, dict) and value.get("format") != version:
        raise CheckpointInvalid(f"{name} is of format {str(value.get('format'))[:20]}; this Imprint reads {version}")
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise unusable(error, name) from error


def unusable(error: ValidationError, name: str) -> CheckpointInvalid:
    first = error.errors(include_url=False, include_input=False)[0]
    field = ".".join(map(str, first["loc"]))[:100]
    if first["type"] == "extra_forbidden":
        return CheckpointInvalid(f"{name}: {field} is not a known field: a newer Imprint may have written it")
    return CheckpointInvalid(f"{name}: {field}: {first['msg']}")
