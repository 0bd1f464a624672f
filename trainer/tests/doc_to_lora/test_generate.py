from typing import Any

import pytest
import torch

from imprint_trainer.doc_to_lora import generate
from imprint_trainer.doc_to_lora.checkpoint.build import build
from imprint_trainer.doc_to_lora.generate import chunk_factors, generate_adapter
from imprint_trainer.doc_to_lora.prompt import document_ids
from imprint_trainer.errors import AdapterNotFinite, HypernetworkInvalid, NothingToTrain
from imprint_trainer.lora.adapter import Payload

from .tiny import BASE, difference, random_hypernetwork, random_tensors, tiny_config, tiny_model, tiny_tokenizer

MODEL, TOKENIZER = tiny_model(), tiny_tokenizer()
CONFIG = tiny_config(MODEL)
NETWORK = random_hypernetwork(CONFIG)
TEXT = "The harbour gateway listens on port 7413. Its window is 45 seconds."


def make(text: str = TEXT, **options: Any) -> generate.Generated:
    return generate_adapter(NETWORK, MODEL, TOKENIZER, text, **options)


def updates(adapter: Payload) -> torch.Tensor:
    keys = sorted(key for key in adapter.tensors if "lora_A" in key)
    scale = adapter.alpha / adapter.rank
    return torch.stack([scale * adapter.tensors[k.replace("lora_A", "lora_B")] @ adapter.tensors[k] for k in keys])


def test_a_document_becomes_an_adapter_of_every_layer() -> None:
    made = make()
    assert made.chunks == 1
    assert made.tokens == len(document_ids(TOKENIZER, BASE, TEXT))
    assert made.adapter.rank == made.uncompressed_rank == 4
    shapes = {key: tuple(tensor.shape) for key, tensor in made.adapter.tensors.items()}
    assert shapes == {
        f"base_model.model.model.layers.{layer}.mlp.down_proj.lora_{side}.weight": shape
        for layer in range(3)
        for side, shape in (("A", (4, 28)), ("B", (16, 4)))
    }


def test_the_same_document_gives_the_same_bytes_and_another_one_another_adapter() -> None:
    first, again, other = make().adapter, make().adapter, make(TEXT.replace("7413", "7414")).adapter
    assert all(torch.equal(first.tensors[key], again.tensors[key]) for key in first.tensors)
    assert difference(updates(other), updates(first)) > 1e-4


def test_chunks_add_ranks_and_batches_of_chunks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = make(max_chunk_length=16)
    assert whole.chunks == -(-whole.tokens // 16) > 4
    assert whole.adapter.rank == (whole.chunks + 1) * 2
    monkeypatch.setattr(generate, "BATCH_TOKENS", 100)
    batched = make(max_chunk_length=16)
    assert difference(updates(batched.adapter), updates(whole.adapter)) < 1e-5


def test_the_hypernetwork_s_own_chunk_length_is_the_default() -> None:
    network = build(CONFIG.model_copy(update={"max_chunk_length": 16}), random_tensors(CONFIG))
    own = generate_adapter(network, MODEL, TOKENIZER, TEXT)
    assert difference(updates(own.adapter), updates(make(max_chunk_length=16).adapter)) < 1e-6
    assert generate_adapter(network, MODEL, TOKENIZER, TEXT, max_chunk_length=500).chunks == 1


def test_forms_agree() -> None:
    folded = updates(make().adapter)
    for options in ({"form": "float"}, {"pad_to": 8}, {"form": "float", "pad_to": 16}):
        assert difference(updates(make(**options).adapter), folded) < 1e-6


def test_scaling_is_linear_in_the_update() -> None:
    assert difference(updates(make(scaling=0.5).adapter), 0.5 * updates(make().adapter)) < 1e-6


def test_compression_keeps_to_its_rank_and_reports_its_error() -> None:
    whole = make(max_chunk_length=16)
    small = make(max_chunk_length=16, compress_rank=5)
    assert small.adapter.rank == 5
    assert small.uncompressed_rank == whole.adapter.rank
    error = (updates(small.adapter) - updates(whole.adapter)).norm() / updates(whole.adapter).norm()
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
        generate_adapter(NETWORK, tiny_model(layers=2), TOKENIZER, TEXT)
    sizes = CONFIG.model_copy(update={"d_in": {"down_proj": 30}})
    with pytest.raises(HypernetworkInvalid, match="28 x 16"):
        generate_adapter(random_hypernetwork(sizes), MODEL, TOKENIZER, TEXT)
    with pytest.raises(HypernetworkInvalid, match="Linear is no decoder"):
        generate_adapter(NETWORK, torch.nn.Linear(2, 2), TOKENIZER, TEXT)


def test_a_hypernetwork_whose_features_have_another_size_is_refused() -> None:
    network = random_hypernetwork(CONFIG.model_copy(update={"feature_size": 20}))
    with pytest.raises(HypernetworkInvalid, match="20"):
        generate_adapter(network, MODEL, TOKENIZER, TEXT)


def test_numbers_that_overflow_never_leave() -> None:
    tensors = random_tensors(CONFIG)
    for key in ("head.weight", "scaler_A.down_proj"):
        tensors[key] = tensors[key] * 1e30
    with pytest.raises(AdapterNotFinite):
        generate_adapter(build(CONFIG, tensors), MODEL, TOKENIZER, TEXT)


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
