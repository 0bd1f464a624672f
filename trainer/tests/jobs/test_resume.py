"""What a checkpoint says of its training is read as it was meant, or refused by name."""

import hashlib
import json
from typing import Any

import pytest

from imprint_trainer.errors import CheckpointInvalid, CheckpointMismatch
from imprint_trainer.jobs.resume import Identity, Request, UsedBase
from imprint_trainer.lora.checkpoint import FORMAT, State
from imprint_trainer.lora.steps import LoraTraining

# The digest of the schema that each format stands for, without what is only said about it.
DIGESTS = {2: "e736a3a5a3eae474f5d0b9ec190e3c5d3d8b072a14a9f980d602dd63bc4a00a3"}


class LaterTraining(LoraTraining):
    sparkle: float = 0.0


class LaterRequest(Request):
    training: LaterTraining


class LaterIdentity(Identity):
    request: LaterRequest


def request(**changes: Any) -> dict[str, Any]:
    selection = {"train_on": "all", "reasoning": False, "include_unsuccessful": False, "skip_invalid": False}
    return {"training": {"seed": 7} | changes, "selection": selection}


def identity(kind: type[Identity] = Identity, **changes: Any) -> Identity:
    said: dict[str, Any] = {
        "sessions": {"s1": "a", "s2": "b"},
        "base_model": UsedBase(sha256="c", dequantised_on_load=True),
        "request": request(),
        "plan": {"max_steps": 8},
    }
    return kind.model_validate(said | changes)


def stored(value: Identity) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(value.to_json()))
    return found


def test_what_was_stored_is_the_same() -> None:
    same = identity(request=request(target_modules=("q_proj",), epochs=None))
    same.require_same(stored(same))
    assert list(stored(same)) == ["session s1", "session s2", "base model", "request", "training plan"]


def test_a_field_that_was_added_since_takes_its_default() -> None:
    before = stored(identity())
    identity(LaterIdentity).require_same(before)
    with pytest.raises(CheckpointMismatch, match="another request$"):
        identity(LaterIdentity, request=request(sparkle=1.0)).require_same(before)
    identity(plan={"max_steps": 8, "sparkles": 2}).require_same(before)


def test_a_field_that_is_not_known_or_missing_is_refused_by_name() -> None:
    newer = stored(identity(LaterIdentity))
    with pytest.raises(CheckpointInvalid, match=r"request\.training\.sparkle is not a known field"):
        identity().require_same(newer)
    with pytest.raises(CheckpointInvalid, match="weather is not a known field"):
        identity().require_same(stored(identity()) | {"weather": "fair"})
    older = stored(identity())
    del older["request"]["selection"]["reasoning"]
    with pytest.raises(CheckpointInvalid, match=r"request\.selection\.reasoning: Field required"):
        identity().require_same(older)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"sessions": {"s1": "x", "s2": "b"}}, "another session s1"),
        ({"sessions": {"s1": "a"}, "plan": {"max_steps": 9}}, "another session s2"),
        ({"base_model": UsedBase(sha256="x", dequantised_on_load=True)}, "another base model"),
        ({"request": request(seed=8), "sessions": {"s2": "b"}}, "another session s1, another request"),
        ({"plan": {"max_steps": 9}}, "another training plan"),
        ({"plan": {}}, "another training plan"),
    ],
)
def test_what_differs_is_named_and_the_plan_only_where_nothing_else_does(changes: dict[str, Any], named: str) -> None:
    with pytest.raises(CheckpointMismatch, match=rf"made with {named}$"):
        identity(**changes).require_same(stored(identity()))


def test_the_format_says_what_the_fields_mean() -> None:
    schemas = [bare(model.model_json_schema()) for model in (State, Identity)]
    digest = hashlib.sha256(json.dumps(schemas, sort_keys=True).encode()).hexdigest()
    assert digest == DIGESTS[FORMAT], (
        "What checkpoints store changed. A new field: give it a default with which trainings go on as they did without "
        f"it, and put the new digest beside format {FORMAT}. Anything else: step FORMAT, and add a digest for it."
    )


def bare(schema: Any) -> Any:
    """Without titles and descriptions."""
    if isinstance(schema, dict):
        return {key: bare(value) for key, value in schema.items() if key not in ("title", "description")}
    return [bare(value) for value in schema] if isinstance(schema, list) else schema
