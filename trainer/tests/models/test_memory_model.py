import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from huggingface_hub.errors import StrictDataclassError
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoConfig
from transformers.models.auto.configuration_auto import model_type_to_module_name
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

from imprint_trainer.data.windows import Window
from imprint_trainer.lora.adapter import fresh_adapter, resolve_targets
from imprint_trainer.lora.loss import loss_sum
from imprint_trainer.models.load import load_base
from imprint_trainer.models.memory_model import (
    WINDOWS,
    Setting,
    Shape,
    block_bytes,
    dequantised_fits,
    longest_window,
    lora_parameters,
    nearer,
    plan_memory,
    predict,
    shape_of,
)
from tiny_model import HYBRIDS, write_family

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
        (Setting(1024, dequantised=False), 2166),
        (Setting(512, rank=64, dequantised=False), 1885),
        (Setting(2048, native_bf16=True, checkpointing=True), 1650),
    ],
)
def test_measured_peaks_are_predicted_within_15_percent(setting: Setting, measured: float) -> None:
    assert predict(known(SMOLLM), setting).total == pytest.approx(measured, rel=0.15)


LLAMA_8B = SMOLLM | {
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
    "tie_word_embeddings": False,
}
CARD = Setting(1024, dequantised=False, device="cuda")


@pytest.mark.parametrize(
    ("config", "setting", "measured"),
    [
        (SMOLLM, CARD, 885),
        (LLAMA_8B, replace(CARD, length=4096, dequantised=True), 35724),
        (LLAMA_8B, replace(CARD, length=4096), 25460),
        (LLAMA_8B, replace(CARD, length=4096, checkpointing=True), 8469),
        (LLAMA_8B, replace(CARD, length=16384, checkpointing=True), 14672),
    ],
)
def test_what_an_h100_held_is_predicted_within_15_percent(
    config: dict[str, Any], setting: Setting, measured: float
) -> None:
    assert predict(known(config), setting).total == pytest.approx(measured, rel=0.15)


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


def kept_for_the_backward_pass(folder: Path, tokens: int) -> int:
    """Bytes of what is no parameter."""
    base = load_base(str(folder), quantization="none", device="cpu")
    frozen = {parameter.untyped_storage().data_ptr() for parameter in base.model.parameters()}
    kept: dict[int, torch.Tensor] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.untyped_storage().data_ptr() not in frozen:
            kept[tensor.untyped_storage().data_ptr()] = tensor
        return tensor

    targets = resolve_targets(base.model, None)
    with fresh_adapter(base, rank=4, alpha=8, targets=targets, seed=1) as model:
        model.train()
        with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
            loss_sum(model, Window((7,) * tokens, (True,) * tokens), base.device)
        return sum(tensor.untyped_storage().nbytes() for tensor in kept.values())


@pytest.mark.parametrize("family", ["gemma2", "llama"])
def test_where_attention_is_not_fused_its_tables_are_in_the_plan(tmp_path: Path, family: str) -> None:
    folder = write_family(tmp_path / family, family)
    shape = known(AutoConfig.from_pretrained(folder).to_dict())

    def of_squares(kept: Any) -> float:
        """What grows with the square of the tokens, of 512 of them."""
        return 2 * (kept(512) - 2 * kept(256))

    measured = of_squares(lambda tokens: kept_for_the_backward_pass(folder, tokens))
    plan = of_squares(lambda tokens: shape.layers * block_bytes(shape, Setting(tokens, 4, checkpointing=True)))
    assert plan == (8 * 512**2 * shape.heads * shape.layers if family == "gemma2" else 0)
    assert measured == pytest.approx(plan, rel=0.05, abs=2e5)


def test_every_family_without_fused_attention_is_known() -> None:
    folder = Path(transformers.__file__).parent / "models"
    wrong = []
    for family in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES:
        sources = list((folder / model_type_to_module_name(family)).glob("modeling_*.py"))
        try:
            config = AutoConfig.for_model(family).to_dict()
            foreign = config.keys() & {"type_vocab_size", "vision_config"}  # encoders, and parts of several families
            shape = None if foreign else shape_of(config)
        except (TypeError, ValueError, ImportError, StrictDataclassError):  # has no usual sizes
            continue
        if sources and shape is not None:
            fuses = any(re.search("_supports_sdpa *= *True", source.read_text()) for source in sources)
            wrong += [family] if shape.eager == fuses else []
    assert wrong == [], wrong


@pytest.mark.parametrize("family", sorted(HYBRIDS.keys() - {"falcon_mamba"}))
def test_of_layers_that_are_no_attention_nothing_is_predicted(tmp_path: Path, family: str) -> None:
    assert shape_of(AutoConfig.from_pretrained(write_family(tmp_path / family, family)).to_dict()) is None
