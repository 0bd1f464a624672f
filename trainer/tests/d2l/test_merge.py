import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from doc_to_lora.merge import compress
from imprint_trainer.lora.adapter import Factors


@settings(max_examples=30)
@given(
    ranks=st.integers(1, 12),
    rank=st.integers(1, 12),
    d_in=st.integers(1, 9),
    d_out=st.integers(1, 9),
    seed=st.integers(0, 999),
)
def test_compression_is_the_best_of_its_rank_and_says_its_error(
    ranks: int, rank: int, d_in: int, d_out: int, seed: int
) -> None:
    generator = torch.Generator().manual_seed(seed)
    A = torch.randn(2, ranks, d_in, generator=generator, dtype=torch.float64)
    B = torch.randn(2, ranks, d_out, generator=generator, dtype=torch.float64)
    result = compress({"m": Factors(A, B)}, rank)
    pair = result.factors["m"]
    whole, got = B.mT @ A, pair.B.mT @ pair.A
    error = float((got - whole).norm() / whole.norm())
    singular = torch.linalg.svdvals(whole)
    best = float(singular[:, rank:].norm() / singular.norm())
    assert pair.A.shape[1] == min(rank, ranks)
    assert error == pytest.approx(best, abs=1e-6)
    assert result.error == pytest.approx(error, abs=1e-6)


def test_compressing_to_the_full_rank_changes_nothing() -> None:
    factors = {"m": Factors(torch.randn(1, 4, 5), torch.randn(1, 4, 6))}
    result = compress(factors, 4)
    assert result.factors is factors
    assert result.error == 0


def test_compressing_nothing_but_zeros_gives_zeros() -> None:
    result = compress({"m": Factors(torch.zeros(1, 4, 5), torch.zeros(1, 4, 6))}, 2)
    assert result.error == 0
    assert not result.factors["m"].A.any()
