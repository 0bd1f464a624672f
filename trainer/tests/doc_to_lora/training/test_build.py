import pytest
import torch
from torch import nn

from imprint_trainer.doc_to_lora.encoder import encode
from imprint_trainer.doc_to_lora.modeling import Hypernetwork
from imprint_trainer.doc_to_lora.training.base import Base
from imprint_trainer.doc_to_lora.training.build import fold, make_config, parameter_groups
from imprint_trainer.doc_to_lora.training.config import Shape
from imprint_trainer.doc_to_lora.training.prompts import Prompts
from imprint_trainer.doc_to_lora.training.refusal import TrainingRefused

from ..tiny import ids_and_mask, tiny_model
from .small import fresh_hypernetwork, small_config


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


def test_a_shape_that_the_base_is_too_shallow_for_is_refused(tiny_base: Base) -> None:
    with pytest.raises(TrainingRefused, match=r"exit_layer 1 and layers 20 to 29 do not fit .* 2 layers"):
        make_config(tiny_base.model, "tiny", Shape(first_layer=20, num_layers=10))


def test_a_base_without_whole_words_starts_from_the_listed_ones(tiny_base: Base) -> None:
    wordless = Base(tiny_base.model, tiny_base.tokenizer, tiny_base.name)
    wordless.__dict__["vocabulary"] = ()
    assert all(weights.isfinite().all() for weights in fresh(wordless).state_dict().values())
