"""Forward passes of the frozen base model behind a prompt: what no adapter changes is computed once and kept."""

import copy
import random
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from transformers import DynamicCache

from imprint_trainer.doc_to_lora.targets import decoder
from imprint_trainer.doc_to_lora.training.padding import pad
from imprint_trainer.doc_to_lora.training.remembered import Pairs, RememberedQuestions, room_for_questions
from imprint_trainer.models.causal_lm import CausalLM
from imprint_trainer.models.output_head import output_head
from imprint_trainer.models.sections import entered_by, section

GROUP = 16  # rows of about one length that run together: little padding, and products that still fill two cores

Row = tuple[list[int], list[int]]  # ids after the prefix: a question, and what follows it
Adapting = Callable[[list[int]], AbstractContextManager[None]]


def unadapted(_: list[int]) -> AbstractContextManager[None]:
    return nullcontext()


class FrozenBase:
    """Every row follows one prefix: the default system turn."""

    def __init__(self, model: CausalLM, prefix: list[int], first_layer: int = 0) -> None:
        """`first_layer` is the lowest block that an adapter changes."""
        self.model = model
        self.prefix = prefix
        self._first_layer = first_layer
        self._lower = section(model, 0, first_layer, normed=False)
        self._upper = section(model, first_layer, None, normed=True)
        self._questions = RememberedQuestions(room_for_questions(model.device))
        self._prefix_pairs: Pairs = []
        self._prefix_state = torch.empty(0, model.config.hidden_size, device=model.device)
        if prefix:
            with torch.no_grad():
                ids = torch.tensor([prefix], device=model.device)
                output = decoder(model)(input_ids=ids, use_cache=True, output_hidden_states=True)
            self._prefix_pairs = pairs_of(output.past_key_values)
            self._prefix_state = output.hidden_states[first_layer][0]

    def twin(self) -> "FrozenBase":
        """Another one for another thread: the same weights and memory in modules of its own, since adapters are hooks
        on modules."""
        shared = {id(tensor): tensor for tensor in [*self.model.parameters(), *self.model.buffers()]}
        twin = copy.copy(self)
        twin.model = copy.deepcopy(self.model, shared)
        twin._lower = section(twin.model, 0, self._first_layer, normed=False)
        twin._upper = section(twin.model, self._first_layer, None, normed=True)
        return twin

    def after_questions(self, rows: list[Row], adapting: Adapting = unadapted) -> list[Tensor]:
        """Normed hidden states [1 + len(answer), D] of each row's last question token and its answer.

        The adapters that `adapting` opens, for the rows that it is given the numbers of, act on these tokens alone: the
        question before them is read once, by the bare model, and remembered.
        """
        result = [torch.empty(0)] * len(rows)
        for group in groups([len(answer) for _, answer in rows]):
            known = [self._questions.pairs(rows[index][0][:-1], self._read) for index in group]
            ids, mask = (
                x.to(self.model.device) for x in pad([rows[index][0][-1:] + rows[index][1] for index in group])
            )
            behind = torch.tensor([len(self.prefix) + pairs[0][0].shape[1] for pairs in known], device=ids.device)
            with adapting(group):
                output = decoder(self.model)(
                    input_ids=ids,
                    attention_mask=torch.cat(
                        [torch.arange(int(behind.max()), device=ids.device) < behind[:, None], mask > 0], 1
                    ),
                    position_ids=behind[:, None] + torch.arange(ids.shape[1], device=ids.device),
                    past_key_values=stacked(known, self._prefix_pairs),
                    use_cache=True,
                )
            for index, hidden in zip(group, output.last_hidden_state, strict=True):
                result[index] = hidden[: 1 + len(rows[index][1])]
        return result

    def whole_prompts(self, rows: list[Row], adapting: Adapting = unadapted) -> list[Tensor]:
        """Normed hidden states [len(question) + len(answer), D]; adapters act on the prefix too, as they do in use."""
        result = [torch.empty(0)] * len(rows)
        wholes = [question + answer for question, answer in rows]
        for group in groups([len(whole) for whole in wholes]):
            ids, mask = (x.to(self.model.device) for x in pad([wholes[index] for index in group]))
            states = self._states(ids, mask)
            start = len(self.prefix)
            mask = torch.cat([mask.new_ones(len(group), start), mask], dim=1)
            with adapting(group), entered_by(self._upper, states):
                output = self._upper(inputs_embeds=states, attention_mask=mask, use_cache=False)
            for index, hidden in zip(group, output.last_hidden_state, strict=True):
                result[index] = hidden[start : start + len(wholes[index])]
        return result

    def log_probs(self, hidden: Tensor) -> Tensor:
        """[N, D] -> log-probabilities [N, vocabulary] in fp32."""
        return output_head(self.model).logits(hidden).log_softmax(-1)

    @torch.no_grad()
    def top_k(self, rows: list[Row], k: int) -> list[tuple[Tensor, Tensor]]:
        """Rows of (ids before, ids predicted) -> k likeliest ids and log-probabilities, each [predicted, k]."""
        result = []
        for hidden, (before, predicted) in zip(self.whole_prompts(rows), rows, strict=True):
            top = self.log_probs(hidden[len(before) - 1 : len(before) - 1 + len(predicted)]).topk(k)
            result.append((top.indices, top.values))
        return result

    def greedy(self, rows: list[list[int]], end: int, limit: int) -> list[list[int]]:
        """Greedy continuations of rows that follow the prefix, without the end token and at most `limit` long.

        Runs the whole prompt, prefix included, so that an adapter that is applied meanwhile acts on every token.
        """
        return self._continue([self.prefix + row for row in rows], end, limit, do_sample=False)

    def sample(self, rows: list[list[int]], end: int, limit: int, seed: str) -> list[list[int]]:
        """Random continuations of rows, without the prefix, the end token and what follows it; at most `limit` long."""
        with torch.random.fork_rng(devices=[self.model.device] if self.model.device.type == "cuda" else []):
            torch.manual_seed(random.Random(seed).getrandbits(32))
            return self._continue(rows, end, limit, do_sample=True, temperature=1.0, top_p=0.95, top_k=0)

    @torch.no_grad()
    def _continue(self, rows: list[list[int]], end: int, limit: int, **settings: Any) -> list[list[int]]:
        ids, mask = (x.to(self.model.device) for x in pad(rows, left=True))
        output = self.model.generate(
            input_ids=ids,
            attention_mask=mask,
            max_new_tokens=limit,
            use_cache=True,
            eos_token_id=end,
            pad_token_id=end,
            **settings,
        )
        answers = output[:, ids.shape[1] :].tolist()
        return [answer[: answer.index(end)] if end in answer else answer for answer in answers]

    @torch.no_grad()
    def _read(self, ids: list[int]) -> Pairs:
        """Keys and values of a question behind the prefix. Read alone, so that they do not depend on what else is in a
        step."""
        cache = stacked([self._prefix_pairs]) if self.prefix else DynamicCache()
        row = torch.tensor([ids], dtype=torch.long, device=self.model.device)
        if ids:
            cache = decoder(self.model)(input_ids=row, past_key_values=cache, use_cache=True).past_key_values
        start = len(self.prefix)
        return [(keys[:, start:].clone(), values[:, start:].clone()) for keys, values in pairs_of(cache)]

    @torch.no_grad()
    def _states(self, ids: Tensor, mask: Tensor) -> Tensor:
        """ids, mask [B, S] of what follows the prefix -> what enters the first adapted block, prefix included."""
        batch, start = len(ids), len(self.prefix)
        output = self._lower(
            input_ids=ids,
            attention_mask=torch.cat([mask.new_ones(batch, start), mask], dim=1),
            past_key_values=stacked([self._prefix_pairs] * batch) if self.prefix else None,
            use_cache=bool(self.prefix),
        )
        return torch.cat([self._prefix_state.expand(batch, -1, -1), output.last_hidden_state], dim=1)


def pairs_of(cache: Any) -> Pairs:
    return [(layer.keys[0], layer.values[0]) for layer in cache.layers]


def stacked(rows: list[Pairs], prefix: Pairs | None = None) -> DynamicCache:
    """One cache of rows of different lengths behind the same `prefix`, padded on the right; the attention mask must
    hide the padding."""
    cache = DynamicCache()
    for index in range(len(rows[0])):
        keys, values = (
            pad_sequence([row[index][side].transpose(0, 1) for row in rows], batch_first=True).transpose(1, 2)
            for side in (0, 1)
        )
        if prefix:
            before = (side.expand(len(rows), -1, -1, -1) for side in prefix[index])
            keys, values = (torch.cat(pair, dim=2) for pair in zip(before, (keys, values), strict=True))
        cache.update(keys, values, index)
    return cache


def groups(lengths: list[int]) -> Iterator[list[int]]:
    """Indices of rows, neighbours in length together."""
    order = sorted(range(len(lengths)), key=lambda index: lengths[index])
    for start in range(0, len(order), GROUP):
        yield order[start : start + GROUP]
