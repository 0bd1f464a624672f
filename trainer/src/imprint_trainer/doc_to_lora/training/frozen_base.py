"""Forward passes of the frozen base model after a prefix that every row shares."""

from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache

from imprint_trainer.doc_to_lora.targets import decoder
from imprint_trainer.doc_to_lora.training.padding import pad


class FrozenBase:
    """Keys and values of the prefix are computed once, without any adapter: training adapts what follows it."""

    def __init__(self, model: Any, prefix: list[int]) -> None:
        self.model = model
        self.prefix = prefix
        self._layers: list[tuple[Tensor, Tensor]] = []
        if prefix:
            with torch.no_grad():
                ids = torch.tensor([prefix], device=model.device)
                cache = decoder(model)(input_ids=ids, use_cache=True).past_key_values
            self._layers = [(layer.keys, layer.values) for layer in cache.layers]

    def hidden(self, ids: Tensor, mask: Tensor) -> Tensor:
        """ids, mask [B, S] of what follows the prefix, padded right -> normed hidden states [B, S, D]."""
        batch, width = ids.shape
        cache = DynamicCache()
        for index, (keys, values) in enumerate(self._layers):
            cache.update(keys.expand(batch, -1, -1, -1), values.expand(batch, -1, -1, -1), index)
        start = len(self.prefix)
        output = decoder(self.model)(
            input_ids=ids,
            attention_mask=torch.cat([mask.new_ones(batch, start), mask], dim=1),
            position_ids=torch.arange(start, start + width, device=ids.device).expand(batch, -1),
            past_key_values=cache,
            use_cache=True,
        )
        hidden: Tensor = output.last_hidden_state
        return hidden

    def log_probs(self, hidden: Tensor) -> Tensor:
        """[N, D] -> log-probabilities [N, vocabulary] in fp32."""
        logits: Tensor = self.model.lm_head(hidden).float()
        cap = getattr(self.model.config, "final_logit_softcapping", None)  # Gemma 2
        return (logits if cap is None else cap * torch.tanh(logits / cap)).log_softmax(-1)

    @torch.no_grad()
    def top_k(self, rows: list[tuple[list[int], list[int]]], k: int) -> list[tuple[Tensor, Tensor]]:
        """Rows of (ids before, ids predicted) -> k likeliest ids and log-probabilities, each [predicted, k]."""
        device = self.model.device
        ids, mask = (x.to(device) for x in pad([before + predicted for before, predicted in rows]))
        result = []
        for row, (before, predicted) in zip(self.hidden(ids, mask), rows, strict=True):
            span = row[len(before) - 1 : len(before) - 1 + len(predicted)]
            top = self.log_probs(span).topk(k)
            result.append((top.indices, top.values))
        return result

    @torch.no_grad()
    def greedy(self, rows: list[list[int]], end: int, limit: int) -> list[list[int]]:
        """Greedy continuations of rows that follow the prefix, without the end token and at most `limit` long.

        Runs the whole prompt, prefix included, so that an adapter that is applied meanwhile acts on every token.
        """
        ids, mask = (x.to(self.model.device) for x in pad([self.prefix + row for row in rows], left=True))
        output = self.model.generate(
            input_ids=ids,
            attention_mask=mask,
            max_new_tokens=limit,
            do_sample=False,
            use_cache=True,
            eos_token_id=end,
            pad_token_id=end,
        )
        answers = output[:, ids.shape[1] :].tolist()
        return [answer[: answer.index(end)] if end in answer else answer for answer in answers]
