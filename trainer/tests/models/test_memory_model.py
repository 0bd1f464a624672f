from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imprint_trainer.models.memory_model import (
    WINDOWS,
    Setting,
    Shape,
    dequantised_fits,
    longest_window,
    lora_parameters,
    nearer,
    plan_memory,
    predict,
    shape_of,
)

SMOLLM: dict[str, Any] = {
    "hidden_size": 576,
    "num_hidden_layers": 30,
    "num_attention_heads": 9,
    "num_key_value_heads": 3,
    "intermediate_size": 1536,
    "vocab_size": 49152,
    "tie_word_embeddings": True,
    "max_position_embeddings": 8192,
}


def known(config: dict[str, Any]) -> Shape:
    shape = shape_of(config)
    assert shape is not None
    return shape


LONG = SMOLLM | {"max_position_embeddings": 131072}


def test_the_factors_of_an_adapter_are_counted() -> None:
    assert lora_parameters(known(SMOLLM), Setting(1024, rank=16)) == 4_884_480
    assert lora_parameters(known(SMOLLM), Setting(1024, rank=1, target_modules=("q_proj",))) == 30 * 2 * 576


@pytest.mark.parametrize(
    ("setting", "measured"),
    [
        (Setting(1024, native_bf16=True), 2925),
        (Setting(1024, rank=64, native_bf16=True), 3043),
        (Setting(2048, native_bf16=True), 4458),
        (Setting(4096, native_bf16=True), 7259),
        (Setting(1024, native_bf16=False), 3143),
        (Setting(1024, dequantised=False), 2956),
        (Setting(512, rank=64, dequantised=False), 2139),
        (Setting(2048, native_bf16=True, checkpointing=True), 1650),
    ],
)
def test_measured_peaks_are_predicted_within_15_percent(setting: Setting, measured: float) -> None:
    assert predict(known(SMOLLM), setting).total == pytest.approx(measured, rel=0.15)


def test_the_longest_window_is_no_longer_than_the_model_was_made_for() -> None:
    assert longest_window(SMOLLM, 1e6) == 8192


def test_the_shortest_window_is_given_where_none_fits() -> None:
    assert longest_window(SMOLLM, 10) == WINDOWS[0]


@given(st.floats(2000, 300_000), st.sampled_from([4, 16, 64]), st.sampled_from(["nf4", "none"]))
def test_the_longest_window_fits_and_the_next_one_does_not(available: float, rank: int, quantization: Any) -> None:
    length = longest_window(LONG, available, rank=rank, quantization=quantization)
    assert longest_window(LONG, available * 1.5, rank=rank, quantization=quantization) >= length
    loaded = Setting(length, rank, quantization=quantization, dequantised=dequantised_fits(known(LONG), available))
    _, plan = plan_memory(known(LONG), loaded, available)
    assert plan["fits"] or length == WINDOWS[0]


def test_checkpointing_is_chosen_only_where_the_training_does_not_fit_without() -> None:
    shape = known(SMOLLM)
    plain = predict(shape, Setting(4096)).total
    assert not plan_memory(shape, Setting(4096), plain * 1.5)[0].checkpointing
    chosen, plan = plan_memory(shape, Setting(4096), plain)
    assert chosen.checkpointing and plan["fits"] and plan["total_mb"] < plain


@given(
    st.floats(1_000, 100_000), st.sampled_from([2048, 8192, 65536]), st.sampled_from([2, 16, 256]),
    st.sampled_from(["nf4", "none"]),
)  # fmt: skip
def test_what_is_suggested_fits(available: float, length: int, rank: int, quantization: Any) -> None:
    shape = known(SMOLLM)
    chosen, plan = plan_memory(shape, Setting(length, rank=rank, quantization=quantization), available)
    assert (plan["suggestion"] is None) == plan["fits"]
    fitting = [one for one in nearer(chosen) if predict(shape, one).total <= available]
    if plan["suggestion"] is not None and not plan["suggestion"].startswith("No setting fits"):
        assert fitting


def test_a_shorter_window_is_suggested_before_a_lower_rank() -> None:
    _, plan = plan_memory(known(SMOLLM), Setting(65536), 6_000)
    assert "max_length" in plan["suggestion"] and "rank" not in plan["suggestion"]


def test_the_machine_that_would_do_is_named_where_nothing_fits() -> None:
    large = SMOLLM | {"hidden_size": 8192, "num_hidden_layers": 80, "intermediate_size": 28672}
    _, plan = plan_memory(known(large), Setting(1024), 8_000)
    assert plan["suggestion"].startswith("No setting fits")


@pytest.mark.parametrize("config", [{"hidden_size": 8}, {"n_embd": 768}, SMOLLM | {"num_local_experts": 8}])
def test_nothing_is_predicted_where_the_sizes_are_not_named(config: dict[str, Any]) -> None:
    assert shape_of(config) is None
    assert longest_window(config, 1e6) == 1024
