"""Gated MLP (section 5.2): down(silu(gate(x)) * up(x)), without biases."""

from torch import Tensor, nn
from torch.nn.functional import silu


class GatedMlp(nn.Module):
    def __init__(self, *, d_in: int, d_hidden: int, d_out: int) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(d_in, d_hidden, bias=False)
        self.up_proj = nn.Linear(d_in, d_hidden, bias=False)
        self.down_proj = nn.Linear(d_hidden, d_out, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        down: Tensor = self.down_proj(silu(self.gate_proj(x)) * self.up_proj(x))
        return down
