from typing import Any

import pytest
import torch

from imprint_trainer.doc_to_lora.encoder import encode
from imprint_trainer.errors import HypernetworkInvalid

from .tiny import FAMILIES, difference, ids_and_mask, tiny_config, tiny_model


@pytest.mark.parametrize("family", FAMILIES)
def test_maps_are_what_enters_each_block_and_the_last_one_is_normed(family: str) -> None:
    model = tiny_model(family, layers=4)
    ids, mask = ids_and_mask([9])
    features = encode(model, ids, mask, tiny_config(model))
    states = model.model(ids, output_hidden_states=True).hidden_states  # embeddings, then what leaves each block
    assert features.shape == (1, 4, 9, 16)
    for layer in range(3):
        assert difference(features[:, layer], states[layer]) < 1e-6
    assert difference(features[:, 3], model.model.norm(states[3])) < 1e-6


@pytest.mark.parametrize("family", FAMILIES)
def test_early_exit_reads_the_first_blocks_and_norms(family: str) -> None:
    model = tiny_model(family, layers=4)
    ids, mask = ids_and_mask([9])
    states = model.model(ids, output_hidden_states=True).hidden_states
    config = tiny_config(model, encoder="early_exit", exit_layer=2)
    assert difference(encode(model, ids, mask, config), model.model.norm(states[2])) < 1e-6
    unnormed = config.model_copy(update={"final_norm": False})
    assert difference(encode(model, ids, mask, unnormed), states[2]) < 1e-6


def test_only_the_layers_asked_for_are_read() -> None:
    model = tiny_model(layers=4)
    ids, mask = ids_and_mask([5])
    every = encode(model, ids, mask, tiny_config(model))
    some = encode(model, ids, mask, tiny_config(model, layer_indices=(0, 2)))
    assert torch.equal(some, every[:, [0, 2]])


@pytest.mark.parametrize("changes", [{}, {"encoder": "early_exit", "exit_layer": 2}])
@pytest.mark.parametrize("left", [False, True])
def test_padding_changes_no_feature_and_padded_rows_are_zero(changes: dict[str, Any], left: bool) -> None:
    model = tiny_model()
    config = tiny_config(model, **changes)
    ids, mask = ids_and_mask([6, 9], width=12, left=left)
    padded = encode(model, ids, mask, config)
    for row, length in enumerate((6, 9)):
        alone_ids = ids[row : row + 1, mask[row].bool()]
        alone = encode(model, alone_ids, torch.ones_like(alone_ids), config)
        assert difference(padded[row][..., mask[row].bool(), :], alone[0]) < 2e-5
        assert not padded[row][..., mask[row] == 0, :].any()
        assert alone_ids.shape[1] == length


def test_the_model_is_left_as_it_was() -> None:
    model = tiny_model()
    ids, mask = ids_and_mask([5])
    before = model(ids).logits
    encode(model, ids, mask, tiny_config(model, encoder="early_exit", exit_layer=1, final_norm=False))
    assert len(model.model.layers) == 3
    assert not any(block._forward_pre_hooks for block in model.model.layers)
    assert torch.equal(model(ids).logits, before)


def test_features_come_in_the_model_s_dtype() -> None:
    model = tiny_model().to(torch.bfloat16)
    ids, mask = ids_and_mask([5])
    assert encode(model, ids, mask, tiny_config(model)).dtype == torch.bfloat16


def test_a_cross_model_encoder_keeps_as_many_maps_as_the_base_has_layers() -> None:
    model = tiny_model(layers=5)
    ids, mask = ids_and_mask([5])
    config = tiny_config(model, layer_indices=(0, 1, 2), encoder_last_layer=3)
    states = model.model(ids, output_hidden_states=True).hidden_states
    assert difference(encode(model, ids, mask, config)[:, 2], model.model.norm(states[2])) < 1e-6


@pytest.mark.parametrize("changes", [{"layer_indices": (0, 3)}, {"encoder": "early_exit", "exit_layer": 4}])
def test_a_base_with_too_few_layers_is_refused(changes: dict[str, Any]) -> None:
    model = tiny_model(layers=3)
    ids, mask = ids_and_mask([5])
    with pytest.raises(HypernetworkInvalid, match="3 layers"):
        encode(model, ids, mask, tiny_config(model, **changes))
