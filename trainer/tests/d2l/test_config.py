from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from doc_to_lora.checkpoint import read_checkpoint, reference_config
from doc_to_lora.config import HypernetworkConfig, PerceiverAttention
from doc_to_lora.generate import expected_shapes

from .pickles import CHECKPOINT
from .tiny import tiny_config, tiny_model

MODEL = tiny_model()
GEMMA = HypernetworkConfig(
    base_model_name_or_path="google/gemma-2-2b-it",
    layer_indices=tuple(range(26)),
    target_modules=("down_proj",),
    d_in={"down_proj": 9216},
    d_out={"down_proj": 2304},
    lora_alpha=2 * 8**1.5,
    feature_size=2304,
    projection_size=4 * 2304,
)


@settings(max_examples=50)
@given(
    rank=st.integers(1, 16),
    encoder=st.sampled_from(["per_layer_activations", "early_exit"]),
    kinds=st.lists(st.sampled_from(["cross", "self"]), min_size=1, max_size=4),
    flags=st.tuples(*[st.booleans()] * 2),
    length=st.none() | st.integers(1, 4096),
)
def test_a_configuration_survives_json(
    rank: int, encoder: str, kinds: list[str], flags: tuple[bool, ...], length: int | None
) -> None:
    names = ("use_bias", "per_layer_processing")
    changes: dict[str, Any] = dict(zip(names, flags, strict=True))
    config = tiny_config(
        MODEL, rank=rank, encoder=encoder, exit_layer=1, encoder_layers=tuple(kinds), max_chunk_length=length, **changes
    )
    assert HypernetworkConfig.model_validate_json(config.model_dump_json()) == config


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"layer_indices": (1, 0)}, "layer_indices"),
        ({"layer_indices": (1, 1)}, "layer_indices"),
        ({"layer_indices": ()}, "layer_indices"),
        ({"target_modules": ("up_proj", "down_proj")}, "target_modules"),
        ({"d_in": {"q_proj": 4}}, "d_in"),
        ({"lora_alpha": 0}, "lora_alpha"),
        ({"lora_alpha": float("inf")}, "lora_alpha"),
        ({"encoder": "early_exit"}, "exit_layer"),
        ({"encoder_layers": ()}, "encoder_layers"),
        ({"decoder_layers": ()}, "n_latent_queries"),
        ({"attention": {"n_heads": 3, "num_key_value_heads": 2}}, "n_heads"),
        ({"surprise": 1}, "surprise"),
        ({"format_version": 2}, "format_version"),
    ],
)
def test_contradictions_are_refused_by_field(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        tiny_config(MODEL, **changes)


def test_what_the_reference_lacks_is_off_unless_asked_for() -> None:
    """The parity cases run with these values, so they change no number."""
    config = reference_config(read_checkpoint(CHECKPOINT))
    assert config.max_chunk_length is GEMMA.max_chunk_length is None
    assert config.layer_indices == (0, 1, 2)
    assert config.decoder_layers == ("cross",)
    assert config.attention == PerceiverAttention()


def test_defaults_give_the_published_gemma_model_s_size() -> None:
    shapes = expected_shapes(GEMMA)
    total = 0
    for shape in shapes.values():
        count = 1
        for size in shape:
            count *= size
        total += count
    assert total == 315_237_792  # section 2.2, nine blocks
    assert shapes["head.weight"] == (26, 512, 11520)
    assert shapes["aggregator.perceiver.encoder.layers.8.self_attn.q_proj.weight"] == (2048, 512)
    assert shapes["layers.0.layers.1.bias"] == (1, 26, 1, 1, 2048)


def test_the_fixture_s_tensors_have_the_shapes_expected_of_its_settings() -> None:
    raw = read_checkpoint(CHECKPOINT)
    shapes = {key: tuple(tensor.shape) for key, tensor in raw.tensors.items()}
    assert expected_shapes(reference_config(raw)) == shapes
