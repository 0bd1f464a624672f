from fractions import Fraction
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from transformers import LlamaConfig, LlamaForCausalLM

from imprint_trainer.doc_to_lora.checkpoint import store
from imprint_trainer.doc_to_lora.encoder import encode
from imprint_trainer.doc_to_lora.modeling import Hypernetwork
from imprint_trainer.doc_to_lora.training.base import Base
from imprint_trainer.doc_to_lora.training.build import (
    BASIS,
    HIDDEN,
    LATENT,
    PROJECTION,
    UNIT,
    basis_size,
    fold,
    make_config,
    parameter_groups,
    share_of,
)
from imprint_trainer.doc_to_lora.training.config import Shape
from imprint_trainer.doc_to_lora.training.prompts import Prompts
from imprint_trainer.doc_to_lora.training.refusal import TrainingRefused

from ..tiny import ids_and_mask, tiny_model
from .small import fresh_hypernetwork, small_config

MODELS = Path(__file__).parents[4] / "models"


def fresh(base: Base, **changes: object) -> Hypernetwork:
    return fresh_hypernetwork(base, Prompts(base.tokenizer), small_config(**changes), [])


def test_the_folded_hypernetwork_makes_the_same_factors(tiny_base: Base) -> None:
    trained = fresh(tiny_base)
    folded = fold(trained)
    ids, mask = ids_and_mask([9, 14])
    features = encode(tiny_base.model, ids, mask, trained.config)
    before, after = trained(features, mask)["down_proj"], folded(features, mask)["down_proj"]
    assert float(before.B.detach().abs().max()) > 0
    assert torch.equal(before.A, after.A)
    assert torch.equal(before.B, after.B)
    assert not any(parameter.requires_grad for parameter in folded.parameters())


def test_learned_ranks_read_along_the_basis_alone(tiny_base: Base) -> None:
    trained = fresh(tiny_base)
    for parameter in (trained.bias_A.weight, trained.bias_B.weight):
        nn.init.normal_(parameter)
    rows, basis = fold(trained).bias_A["down_proj"], trained.head.basis
    assert basis.shape[1] < basis.shape[2]
    torch.testing.assert_close(rows @ torch.linalg.pinv(basis) @ basis, rows)
    torch.testing.assert_close(fold(trained).bias_B["down_proj"], trained.head.out_rows(trained.bias_B.weight))


def test_a_fresh_hypernetwork_is_a_function_of_its_seed(tiny_base: Base) -> None:
    first, second, other = fresh(tiny_base), fresh(tiny_base), fresh(tiny_base, seed=1)
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))
    assert not torch.equal(first.head.weight_A, other.head.weight_A)


def test_every_parameter_trains_and_once(tiny_base: Base) -> None:
    hypernetwork = fresh(tiny_base)
    matrices, rest = parameter_groups(hypernetwork)
    assert {id(p) for p in [*matrices, *rest]} == {id(p) for p in hypernetwork.parameters()}
    assert len(matrices) + len(rest) == len(list(hypernetwork.parameters()))
    assert all(parameter.isfinite().all() for parameter in hypernetwork.parameters())


def test_the_shape_follows_the_depth_of_the_base() -> None:
    config = make_config(tiny_model(layers=15), "tiny", Shape())
    assert config.exit_layer == 2
    assert config.layer_indices == (12, 13, 14)


def test_the_sizes_follow_the_width_of_the_base() -> None:
    """The default model's are those of the hypernetwork that ships for it."""
    shipped = store.read_config(MODELS / "smollm2-135m-instruct")
    default = LlamaConfig(hidden_size=576, intermediate_size=1536, num_hidden_layers=30, vocab_size=300)
    with torch.device("meta"):
        base = LlamaForCausalLM(default)
        wide = LlamaForCausalLM(LlamaConfig(**default.to_dict() | {"hidden_size": 1152, "intermediate_size": 3072}))
    assert make_config(base, shipped.base_model_name_or_path, Shape()) == shipped
    assert basis_size(Shape(), shipped.d_in["down_proj"]) == 512
    twice = make_config(wide, "wide", Shape())
    for name in ("feature_size", "latent_size", "projection_size", "perceiver_mlp_size", "pre_head_size"):
        assert getattr(twice, name) == 2 * getattr(shipped, name), name
    assert (twice.attention.n_heads, twice.attention.head_dim) == (20, 32)
    assert basis_size(Shape(), twice.d_in["down_proj"]) == 1024


@given(width=st.integers(1, 20_000), share=st.sampled_from([LATENT, PROJECTION, HIDDEN, BASIS]))
def test_a_share_of_a_width_is_a_multiple_of_a_head(width: int, share: Fraction) -> None:
    size = share_of(width, share)
    assert size % UNIT == 0
    assert size == UNIT or abs(size - width * share) <= UNIT / 2


def test_a_shape_that_the_base_is_too_shallow_for_is_refused(tiny_base: Base) -> None:
    with pytest.raises(TrainingRefused, match=r"exit_layer 1 and layers 20 to 29 do not fit .* 2 layers"):
        make_config(tiny_base.model, "tiny", Shape(first_layer=20, num_layers=10))


def test_a_base_without_whole_words_starts_from_the_listed_ones(tiny_base: Base) -> None:
    wordless = Base(tiny_base.model, tiny_base.tokenizer, tiny_base.name)
    wordless.__dict__["vocabulary"] = ()
    assert all(weights.isfinite().all() for weights in fresh(wordless).state_dict().values())
