"""The frozen base in two: blocks that no adapter changes, read once, and those above them."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from imprint_trainer.data.windows import Window
from imprint_trainer.doc_to_lora.config import HypernetworkConfig
from imprint_trainer.doc_to_lora.encoder import encode
from imprint_trainer.doc_to_lora.targets import decoder
from imprint_trainer.doc_to_lora.training.padding import pad
from imprint_trainer.doc_to_lora.training.rest.kept import KeptReadings, Tensors
from imprint_trainer.lora.loss import CHUNK, window_tensors
from imprint_trainer.models.causal_lm import CausalLM
from imprint_trainer.models.output_head import output_head
from imprint_trainer.models.sections import entered_by, section

ENCODED_AT_ONCE = 8  # chunks


@dataclass(frozen=True)
class Read:
    """A window of n tokens with s targets: the states that enter the first adapted block [n, D], in bf16, the positions
    that predict a target [s], the targets [s], their nats under the base [s], and its top k there [s, k]."""

    states: Tensor
    positions: Tensor
    targets: Tensor
    nll: Tensor
    top_ids: Tensor
    top_log_probs: Tensor


class SplitBase:
    def __init__(self, model: CausalLM, config: HypernetworkConfig, kept: KeptReadings, top_k: int) -> None:
        self.model, self.config, self._kept, self._top_k = model, config, kept, top_k
        first = min(config.layer_indices)
        self._lower, self._upper = section(model, 0, first, normed=False), section(model, first, None, normed=True)
        self._head = output_head(model)

    def upper(self, states: Tensor) -> Tensor:
        """States [n, D] -> what the head reads [n, D]; adapters that are applied meanwhile act on every token."""
        entering = states.to(self.model.device, self.model.dtype).unsqueeze(0)
        with entered_by(self._upper, entering):
            hidden: Tensor = self._upper(inputs_embeds=entering, use_cache=False).last_hidden_state[0]
        return hidden

    def log_probs(self, hidden: Tensor) -> Tensor:
        """[s, D] -> [s, vocabulary]."""
        return self._head.logits(hidden).log_softmax(-1)

    def window(self, window: Window, *, keep: bool = True) -> Read:
        """In the precision in which it is kept, for the next time that it is asked for."""
        key = f"window {window.input_ids} {window.supervised}" if keep else None
        return Read(**self._kept.get(key, lambda: self._read(window)))

    def document(self, chunks: Sequence[list[int]], *, keep: bool = True) -> tuple[Tensor, Tensor]:
        """Features [K, S, D] and mask [K, S] of a document's chunks."""
        found = self._kept.get(f"document {chunks}" if keep else None, lambda: self._encode(chunks))
        return found["features"], found["mask"]

    def with_document(self, window: Window, ids: Sequence[int]) -> tuple[Tensor, Tensor]:
        """Top k [s, k] twice for the window's targets, by the base with the document's ids before the window."""
        found = self._kept.get(f"teacher {ids} {window.input_ids}", lambda: self._teach(window, ids))
        return found["top_ids"], found["top_log_probs"]

    @torch.no_grad()
    def _read(self, window: Window) -> Tensors:
        inputs, positions, targets = window_tensors(window, self.model.device)
        states = self._lower(input_ids=inputs, use_cache=False).last_hidden_state[0].to(torch.bfloat16)
        nll, ids, values = self._predictions(self.upper(states)[positions], targets)
        return {
            "states": states.cpu(),
            "positions": positions.cpu(),
            "targets": targets.cpu(),
            "nll": nll,
            "top_ids": ids,
            "top_log_probs": values,
        }

    @torch.no_grad()
    def _encode(self, chunks: Sequence[list[int]]) -> Tensors:
        ids, mask = pad(list(chunks))
        parts = [
            encode(self.model, own.to(self.model.device), there.to(self.model.device), self.config).cpu()
            for own, there in zip(torch.split(ids, ENCODED_AT_ONCE), torch.split(mask, ENCODED_AT_ONCE), strict=True)
        ]
        return {"features": torch.cat(parts).to(torch.bfloat16), "mask": mask}

    @torch.no_grad()
    def _teach(self, window: Window, ids: Sequence[int]) -> Tensors:
        inputs, positions, targets = window_tensors(window, self.model.device)
        before = torch.tensor([list(ids)], dtype=torch.long, device=self.model.device)
        hidden = decoder(self.model)(input_ids=torch.cat([before, inputs], dim=1), use_cache=False)
        _, top_ids, values = self._predictions(hidden.last_hidden_state[0][positions + len(ids)], targets)
        return {"top_ids": top_ids, "top_log_probs": values}

    def _predictions(self, hidden: Tensor, targets: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        nll, ids, values = [], [], []
        for part, wanted in zip(torch.split(hidden, CHUNK), torch.split(targets, CHUNK), strict=True):
            log_probs = self.log_probs(part)
            top = log_probs.topk(min(self._top_k, log_probs.shape[-1]))
            nll.append(-log_probs.gather(1, wanted[:, None]).squeeze(1).cpu())
            ids.append(top.indices.cpu())
            values.append(top.values.cpu())
        return torch.cat(nll), torch.cat(ids), torch.cat(values)
