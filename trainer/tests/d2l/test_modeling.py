"""Invariances of the hypernetwork."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from doc_to_lora.generate import build, encode
from doc_to_lora.merge import merge_chunks
from doc_to_lora.modeling import Hypernetwork
from imprint_trainer.lora.adapter import Factors

from .tiny import difference, ids_and_mask, random_hypernetwork, random_tensors, tiny_config, tiny_model

MODEL = tiny_model()
LAYOUTS = {
    "per layer": tiny_config(MODEL, modules=("down_proj", "q_proj")),
    "early exit": tiny_config(MODEL, encoder="early_exit", exit_layer=2),
}
NETWORKS = {name: random_hypernetwork(config) for name, config in LAYOUTS.items()}
layouts = st.sampled_from(sorted(LAYOUTS))
lengths = st.lists(st.integers(2, 9), min_size=1, max_size=4)
seeds = st.integers(0, 2**16)


def update(factors: dict[str, Factors]) -> dict[str, Tensor]:
    """B^T A for each module."""
    return {module: pair.B.mT @ pair.A for module, pair in factors.items()}


def same(got: dict[str, Tensor], wanted: dict[str, Tensor], tolerance: float = 2e-5) -> bool:
    return all(difference(got[module], wanted[module]) < tolerance for module in wanted)


def factors_of(network: Hypernetwork, ids: Tensor, mask: Tensor, *, iterative: bool = False) -> dict[str, Factors]:
    factors: dict[str, Factors] = network(encode(MODEL, ids, mask, network.config), mask, iterative=iterative)
    return factors


@settings(max_examples=25)
@given(layout=layouts, sizes=lengths, extra=st.integers(0, 6), left=st.booleans(), seed=seeds)
def test_padding_on_either_side_changes_nothing(
    layout: str, sizes: list[int], extra: int, left: bool, seed: int
) -> None:
    network = NETWORKS[layout]
    padded = factors_of(network, *ids_and_mask(sizes, width=max(sizes) + extra, left=left, seed=seed))
    ids, mask = ids_and_mask(sizes, seed=seed)
    for row, size in enumerate(sizes):
        alone = factors_of(network, ids[row : row + 1, :size], mask[row : row + 1, :size])
        for module, pair in alone.items():
            assert difference(padded[module].A[row], pair.A[0]) < 1e-4
            assert difference(padded[module].B[row], pair.B[0]) < 1e-4


@settings(max_examples=15)
@given(sizes=lengths, seed=seeds)
def test_layer_by_layer_equals_all_layers_at_once(sizes: list[int], seed: int) -> None:
    network = NETWORKS["per layer"]
    ids, mask = ids_and_mask(sizes, seed=seed)
    batched, iterative = factors_of(network, ids, mask), factors_of(network, ids, mask, iterative=True)
    assert all(difference(iterative[m].A, batched[m].A) < 2e-5 for m in batched)
    assert all(difference(iterative[m].B, batched[m].B) < 2e-5 for m in batched)


@settings(max_examples=15)
@given(layout=layouts, sizes=lengths, data=st.data(), seed=seeds)
def test_the_order_of_chunks_does_not_matter(layout: str, sizes: list[int], data: st.DataObject, seed: int) -> None:
    network = NETWORKS[layout]
    ids, mask = ids_and_mask(sizes, seed=seed)
    order = data.draw(st.permutations(range(len(sizes))))
    straight = merge_chunks(network, factors_of(network, ids, mask))
    shuffled = merge_chunks(network, factors_of(network, ids[order], mask[order]))
    assert same(update(shuffled), update(straight))


@settings(max_examples=10)
@given(layout=layouts, sizes=lengths, seed=seeds)
def test_a_zero_scaler_b_leaves_the_bias_alone(layout: str, sizes: list[int], seed: int) -> None:
    config = LAYOUTS[layout]
    tensors = random_tensors(config)
    silent = build(config, {k: t * (not k.startswith("scaler_B")) for k, t in tensors.items()})
    got = update(merge_chunks(silent, factors_of(silent, *ids_and_mask(sizes, seed=seed))))
    for module in config.target_modules:
        bias = tensors[f"bias_B.{module}"].mT @ tensors[f"bias_A.{module}"]
        assert difference(got[module], bias) < 1e-6


@settings(max_examples=15)
@given(layout=layouts, size=st.integers(2, 9), position=st.integers(0, 8), seed=seeds)
def test_one_other_token_makes_another_adapter(layout: str, size: int, position: int, seed: int) -> None:
    network = NETWORKS[layout]
    ids, mask = ids_and_mask([size], seed=seed)
    other = ids.clone()
    other[0, position % size] += 17
    first, second = factors_of(network, ids, mask), factors_of(network, other, mask)
    # The last token's own embedding is seen by every layer's map, so even it changes the adapter
    assert all(difference(second[m].A, first[m].A) > 1e-4 for m in first)
    assert all(difference(second[m].B, first[m].B) > 1e-4 for m in first)


@settings(max_examples=15)
@given(layout=layouts, size=st.integers(2, 9), data=st.data(), seed=seeds)
def test_the_perceiver_knows_no_positions(layout: str, size: int, data: st.DataObject, seed: int) -> None:
    network = NETWORKS[layout]
    ids, mask = ids_and_mask([size], seed=seed)
    features = encode(MODEL, ids, mask, network.config)
    order = data.draw(st.permutations(range(size)))
    straight, shuffled = network(features, mask), network(features[..., order, :], mask)
    assert all(difference(shuffled[m].A, straight[m].A) < 2e-5 for m in straight)


def test_scalers_multiply_a_alone_and_the_other_two_both_factors() -> None:
    network = NETWORKS["per layer"]
    chunks = factors_of(network, *ids_and_mask([6, 4]))
    r = network.config.rank
    plain = merge_chunks(network, chunks)["down_proj"]
    scaled = merge_chunks(
        network, chunks, scalers=torch.tensor([0.5, -2.0]), bias_scaler=3.0, user_defined_scaling=0.25
    )["down_proj"]
    factors_a = torch.tensor([0.125] * r + [-0.5] * r + [3.0] * r)[:, None]
    factors_b = torch.tensor([0.25] * (2 * r) + [3.0] * r)[:, None]
    assert torch.allclose(scaled.A, plain.A * factors_a)
    assert torch.allclose(scaled.B, plain.B * factors_b)


def test_without_a_decoder_the_encoder_s_latents_are_the_ranks() -> None:
    config = tiny_config(MODEL, encoder="early_exit", exit_layer=1, decoder_layers=(), n_latent_queries=6)
    network = random_hypernetwork(config)
    assert not any("decoder" in key for key in network.state_dict())
    ids, mask = ids_and_mask([7])
    features = encode(MODEL, ids, mask, config)
    encoded = network.aggregator.encode(features, mask)
    assert torch.equal(network.aggregator.decode(encoded)[0].flatten(0, 2), encoded[0])


def test_an_adapter_on_some_layers_is_the_whole_one_s_part() -> None:
    whole = tiny_config(MODEL)
    part = tiny_config(MODEL, layer_indices=(0, 2))
    tensors = random_tensors(whole)
    ids, mask = ids_and_mask([7])
    everywhere = build(whole, tensors)(encode(MODEL, ids, mask, whole), mask)["down_proj"]
    cut = {
        key: tensor[[0, 2]] if tensor.shape[0] == 3 and "latents" not in key else tensor
        for key, tensor in tensors.items()
    }
    cut = {
        key: tensor[:, [0, 2]] if tensor.dim() > 1 and tensor.shape[:2] == (1, 3) else tensor
        for key, tensor in cut.items()
    }
    some = build(part, cut)(encode(MODEL, ids, mask, part), mask)["down_proj"]
    assert difference(some.A, everywhere.A[:, [0, 2]]) < 1e-6


def test_everything_stays_on_the_device_of_the_parameters() -> None:
    for network in NETWORKS.values():
        elsewhere = Hypernetwork(network.config).to("meta")
        ids, mask = ids_and_mask([9, 4])
        features = encode(MODEL, ids, mask, network.config).to("meta")
        merged = merge_chunks(elsewhere, elsewhere(features, mask.to("meta")), scalers=torch.ones(2))
        assert {pair.A.device.type for pair in merged.values()} == {"meta"}


def test_the_whole_network_runs_in_bf16() -> None:
    config = LAYOUTS["per layer"]
    network = random_hypernetwork(config, dtype=torch.bfloat16)
    ids, mask = ids_and_mask([9])
    rough = network(encode(MODEL, ids, mask, config), mask)["down_proj"].A
    exact = factors_of(NETWORKS["per layer"], ids, mask)["down_proj"].A
    assert rough.dtype == torch.bfloat16
    assert float((rough.float() - exact).norm() / exact.norm()) < 0.2
