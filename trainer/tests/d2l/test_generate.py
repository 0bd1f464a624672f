from typing import Any

import pytest
import torch

from doc_to_lora import generate
from doc_to_lora.generate import build, chunk_factors, encode, generate_update
from doc_to_lora.prompt import document_ids
from imprint_trainer.errors import HypernetworkInvalid, NothingToTrain
from imprint_trainer.imprint.update import Update

from .tiny import (
    BASE,
    FAMILIES,
    difference,
    ids_and_mask,
    random_hypernetwork,
    random_tensors,
    tiny_config,
    tiny_model,
    tiny_tokenizer,
)

MODEL, TOKENIZER = tiny_model(), tiny_tokenizer()
CONFIG = tiny_config(MODEL)
NETWORK = random_hypernetwork(CONFIG)
TEXT = "The harbour gateway listens on port 7413. Its window is 45 seconds."


def make(text: str = TEXT, **options: Any) -> Update:
    return generate_update(NETWORK, MODEL, TOKENIZER, text, **options)


def updates(update: Update) -> torch.Tensor:
    pair = update.factors["down_proj"]
    return pair.B.mT @ pair.A


def test_a_document_becomes_an_update_of_every_layer() -> None:
    made = make()
    assert made.chunks == 1
    assert made.tokens == len(document_ids(TOKENIZER, BASE, TEXT))
    assert made.uncompressed_rank == 4
    pair = made.factors["down_proj"]
    assert (pair.A.shape, pair.B.shape) == ((3, 4, 28), (3, 4, 16))


def test_the_same_document_gives_the_same_bytes_and_another_one_another_adapter() -> None:
    first, again, other = make(), make(), make(TEXT.replace("7413", "7414"))
    assert torch.equal(updates(first), updates(again))
    assert difference(updates(other), updates(first)) > 1e-4


def test_chunks_add_ranks_and_batches_of_chunks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = make(max_chunk_length=16)
    assert whole.chunks == -(-whole.tokens // 16) > 4
    assert whole.factors["down_proj"].A.shape[1] == (whole.chunks + 1) * 2
    monkeypatch.setattr(generate, "BATCH_TOKENS", 100)
    batched = make(max_chunk_length=16)
    assert difference(updates(batched), updates(whole)) < 1e-5


def test_the_hypernetwork_s_own_chunk_length_is_the_default() -> None:
    network = build(CONFIG.model_copy(update={"max_chunk_length": 16}), random_tensors(CONFIG))
    own = generate_update(network, MODEL, TOKENIZER, TEXT)
    assert difference(updates(own), updates(make(max_chunk_length=16))) < 1e-6
    assert generate_update(network, MODEL, TOKENIZER, TEXT, max_chunk_length=500).chunks == 1


def test_compression_keeps_to_its_rank_and_reports_its_error() -> None:
    whole = make(max_chunk_length=16)
    small = make(max_chunk_length=16, compress_rank=5)
    assert small.factors["down_proj"].A.shape[1] == 5
    assert small.uncompressed_rank == whole.factors["down_proj"].A.shape[1]
    error = (updates(small) - updates(whole)).norm() / updates(whole).norm()
    assert 0 < small.compression_error < 1
    assert float(error) == pytest.approx(small.compression_error, rel=1e-3)
    assert make(compress_rank=64).compression_error == 0


@pytest.mark.parametrize("text", ["", " \n\t "])
def test_an_empty_document_is_refused(text: str) -> None:
    with pytest.raises(NothingToTrain, match="empty"):
        make(text)


def test_a_chunk_that_the_base_cannot_read_is_refused_with_the_remedy() -> None:
    with pytest.raises(HypernetworkInvalid, match=r"512 positions: set max_chunk_length"):
        make("word " * 200)
    assert make("word " * 200, max_chunk_length=100).chunks > 1


def test_a_base_of_other_sizes_is_refused() -> None:
    with pytest.raises(HypernetworkInvalid, match="2 layers"):
        generate_update(NETWORK, tiny_model(layers=2), TOKENIZER, TEXT)
    sizes = CONFIG.model_copy(update={"d_in": {"down_proj": 30}})
    with pytest.raises(HypernetworkInvalid, match="28 x 16"):
        generate_update(random_hypernetwork(sizes), MODEL, TOKENIZER, TEXT)
    with pytest.raises(HypernetworkInvalid, match="Linear is no decoder"):
        generate_update(NETWORK, torch.nn.Linear(2, 2), TOKENIZER, TEXT)


def test_a_hypernetwork_whose_features_have_another_size_is_refused() -> None:
    network = random_hypernetwork(CONFIG.model_copy(update={"feature_size": 20}))
    with pytest.raises(HypernetworkInvalid, match="20"):
        generate_update(network, MODEL, TOKENIZER, TEXT)


def test_factors_come_chunk_by_chunk_in_order() -> None:
    rows = [[5, 6, 7], [8, 9], [10, 11, 12, 13]]
    together = chunk_factors(NETWORK, MODEL, rows)["down_proj"]
    for index, row in enumerate(rows):
        alone = chunk_factors(NETWORK, MODEL, [row])["down_proj"]
        assert difference(together.A[index], alone.A[0]) < 1e-4


@pytest.mark.parametrize("room", [0, 13 * 20 * 3 - 1, 13 * 20 * 3])
def test_layers_that_do_not_fit_the_perceiver_together_go_one_by_one_to_the_same_adapter(
    monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    rows = [list(range(5, 18))]  # 13 ids, a projection of 20, 3 layers
    together = chunk_factors(NETWORK, MODEL, rows)["down_proj"]
    batches: list[int] = []
    hook = NETWORK.aggregator.perceiver.modality_projection.register_forward_hook(
        lambda _, args, __: batches.append(args[0].shape[0])
    )
    monkeypatch.setattr(generate, "PERCEIVER_NUMBERS", room)
    apart = chunk_factors(NETWORK, MODEL, rows)["down_proj"]
    hook.remove()
    assert batches == ([3] if room == 13 * 20 * 3 else [1, 1, 1])
    assert difference(apart.A, together.A) < 1e-5
    assert difference(apart.B, together.B) < 1e-5


def test_gradients_reach_every_parameter_that_makes_the_adapter() -> None:
    network = build(CONFIG, random_tensors(CONFIG)).requires_grad_(True)
    factors = chunk_factors(network, MODEL, [[5, 6, 7]])["down_proj"]
    torch.autograd.backward(factors.A.square().sum() + factors.B.square().sum())
    without = {name for name, parameter in network.named_parameters() if parameter.grad is None}
    assert without == {"bias_A.down_proj", "bias_B.down_proj"}  # these join at the merge


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
    encode(model, ids, mask, tiny_config(model, encoder="early_exit", exit_layer=1))
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
