"""What the model says after fixed prompts, with an adapter and without it: servers that apply it move alike."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from imprint_trainer.lora.loss import Read
from imprint_trainer.models.causal_lm import CausalLM, LoadedBase
from imprint_trainer.models.head import output_head
from imprint_trainer.publish.losses import TEXTS, neutral_window

TOKENS = 64  # of each text
LEAST = 8  # of a prompt
LIKELIEST = 5  # that servers tell at least

Likeliest = torch.return_types.topk  # log-probabilities and tokens [n, LIKELIEST]


@torch.inference_mode()
def readings(model: CausalLM, base: LoadedBase, read: Read) -> list[Tensor]:
    """For each of TEXTS log-probabilities [TOKENS - LEAST + 1, vocabulary], nats: of what follows each prompt."""
    head = output_head(model)
    inputs = [torch.tensor([ids], device=base.device) for ids in prompts(base.tokenizer)]
    return [torch.log_softmax(head.logits(read(model, ids)[0, LEAST - 1 :]), dim=-1).cpu() for ids in inputs]


def readings_of_base(base: LoadedBase, read: Read) -> list[Likeliest]:
    """As `readings`, of the bare base: of each row the LIKELIEST, computed once while it is resident."""
    if "readings" not in base.memo:
        base.memo["readings"] = [one.topk(LIKELIEST) for one in readings(base.model, base, read)]
    found: list[Likeliest] = base.memo["readings"]
    return found


def prompts(tokenizer: Any) -> list[tuple[int, ...]]:
    return [neutral_window(tokenizer, name, TOKENS).input_ids for name in TEXTS]


def probes(tokenizer: Any, before: Sequence[Likeliest], after: Sequence[Tensor]) -> list[dict[str, Any]]:
    """The contracts' `Probe`s, at most one of each text, from the readings without and with the adapter: the prompt and
    the token that the adapter moves most, of those that are the likeliest one way and among LIKELIEST the other."""
    found = []
    for ids, (values, tokens), other in zip(prompts(tokenizer), before, after, strict=True):
        now = other.topk(LIKELIEST).indices
        listed = tokens == now[:, :1]
        listed[:, 0] |= (tokens[:, :1] == now).any(dim=1)
        moved = (other.gather(1, tokens) - values).abs().masked_fill(~listed, -1)
        place, at = divmod(int(moved.argmax()), LIKELIEST)
        if listed[place, at]:
            token = int(tokens[place, at])
            found.append(
                {
                    "prompt": list(ids[: LEAST + place]),
                    "token": token,
                    "text": tokenizer.decode([token]),
                    "before": float(values[place, at]),
                    "after": float(other[place, token]),
                }
            )
    return found
