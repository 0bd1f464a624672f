"""The pydantic models say what the contracts say, field by field."""

from typing import Any

import pytest

from imprint_trainer import protocol
from imprint_trainer.protocol import MalformedLineError, parse_request
from schema import SCHEMAS

MODELS = [
    protocol.TrainLora,
    protocol.TrainSweep,
    protocol.TrainHypernetwork,
    protocol.Export,
    protocol.Evaluate,
    protocol.Cancel,
    protocol.CancelCall,
    protocol.PreviewCall,
    protocol.RenderCall,
    protocol.ChatCall,
]
LIMITS = ("minimum", "maximum", "exclusiveMinimum", "const")


def shape(schema: dict[str, Any], definitions: dict[str, Any]) -> Any:
    """What a schema demands, in one notation for TypeBox and pydantic."""
    if "$ref" in schema:
        return shape(definitions[schema["$ref"].rsplit("/", 1)[1]], definitions)
    if "enum" in schema:
        return frozenset(("const", value) for value in schema["enum"])
    if "anyOf" in schema:
        options = [shape(option, definitions) for option in schema["anyOf"]]
        merged = [option if isinstance(option, frozenset) else frozenset([option]) for option in options]
        return frozenset().union(*merged)
    if schema.get("type") == "object":
        fields = {name: shape(inner, definitions) for name, inner in schema["properties"].items()}
        return ("object", frozenset(fields.items()), frozenset(schema["required"]), schema["additionalProperties"])
    if schema.get("type") == "array":
        return ("array", shape(schema["items"], definitions))
    if "const" in schema:
        return ("const", schema["const"])
    if "type" not in schema:
        return "anything"
    limits = tuple((word, float(schema[word])) for word in LIMITS if word in schema)
    pattern = schema.get("pattern", "").replace(r"\Z", "$")
    return (schema["type"], limits, pattern)


def contract(type_name: str) -> dict[str, Any]:
    options = SCHEMAS["WorkerRequest"]["anyOf"]
    return next(option for option in options if option["properties"]["type"]["const"] == type_name)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_fields_required_types_and_limits_are_those_of_the_contracts(model: type[protocol.Strict]) -> None:
    ours = model.model_json_schema()
    assert shape(ours, ours.get("$defs", {})) == shape(contract(ours["properties"]["type"]["const"]), {})


def test_every_request_of_the_contracts_has_a_model() -> None:
    known = {model.model_json_schema()["properties"]["type"]["const"] for model in MODELS}
    assert {option["properties"]["type"]["const"] for option in SCHEMAS["WorkerRequest"]["anyOf"]} == known


@pytest.mark.parametrize("ending", ["\\n", " ", "x", "\\u0000"])
def test_an_id_with_anything_after_it_is_refused(ending: str) -> None:
    line = f'{{"type": "cancel", "job_id": "{"0" * 26}{ending}"}}'.encode()
    with pytest.raises(MalformedLineError, match="job_id"):
        parse_request(line)
