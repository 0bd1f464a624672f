"""A LoRA update as the two matrices that it is the product of."""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Factors:
    """Delta W = multiplier * B^T A, for each leading index. PEFT's lora_B is B^T."""

    A: Tensor  # [..., r, d_in]
    B: Tensor  # [..., r, d_out]
