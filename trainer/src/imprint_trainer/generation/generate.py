"""Answers of the base model, with or without an adapter: to a chat while it grows, or greedy ones to many prompts."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import torch
from transformers import StoppingCriteria, StoppingCriteriaList

from imprint_trainer.errors import Cancelled
from imprint_trainer.generation.prompt import end_tokens, prompt_of
from imprint_trainer.models.causal_lm import CausalLM, LoadedBase
from imprint_trainer.protocol import ChatSpec
from imprint_trainer.publish.peft_format import attached

# Every answer names how its tokens are chosen: no presets of a base model are in force (`load_base` drops them).
GREEDY: dict[str, Any] = {"do_sample": False}
INCOMPLETE = "\ufffd"  # how a decoder shows a character whose last bytes are still to come


@torch.inference_mode()
def chat(
    spec: ChatSpec,
    base: LoadedBase,
    *,
    cancelled: Callable[[], bool],
    on_prompt: Callable[[dict[str, Any]], None],
    on_text: Callable[[str], None],
) -> dict[str, Any]:
    """The contracts' `ChatResult`: greedy at temperature 0, else sampled with the seed alone. `on_prompt` is told the
    contracts' `ChatPrompt` once nothing is left to refuse. Raises Cancelled, ContextLengthExceeded and
    PromptRefused."""
    prompt = prompt_of(spec, base)
    length = prompt.length
    if spec.max_tokens == 0:
        return result_of("", "length", None, prompt=length, completion=0)
    on_prompt({"prompt_tokens": length, "tool_format": prompt.tool_format})
    listener = Listener(spec, base, with_calls=prompt.tool_format is not None, cancelled=cancelled, on_text=on_text)
    listener.begin(prompt.opening)
    adapted = attached(base, Path(spec.adapter_path)) if spec.adapter_path else nullcontext(base.model)
    with seeded(spec.seed, base), adapted as model:
        (answer,) = continued(
            model, base, [prompt.ids], prompt.max_new_tokens, choosing=choosing(spec), listener=listener
        )
    listener.finish()
    output = [*prompt.ids[length:], *answer]
    stopped = listener.stop_text is not None or (bool(output) and output[-1] in end_tokens(base))
    return result_of(
        listener.text, "stop" if stopped else "length", listener.stop_text, prompt=length, completion=len(output)
    )


def result_of(text: str, finish_reason: str, stop_text: str | None, *, prompt: int, completion: int) -> dict[str, Any]:
    return {
        "text": text,
        "finish_reason": finish_reason,
        "stop_text": stop_text,
        "prompt_tokens": prompt,
        "completion_tokens": completion,
    }


def choosing(spec: ChatSpec) -> dict[str, Any]:
    if spec.temperature == 0:
        return GREEDY
    drawn = {"temperature": spec.temperature, "top_p": spec.top_p, "top_k": spec.top_k, "min_p": spec.min_p}
    return {"do_sample": True, **drawn}


@contextmanager
def seeded(seed: int, base: LoadedBase) -> Iterator[None]:
    """Random numbers of the chat's own: those of a training go on as if it had not been."""
    devices = [base.device.index or 0] if base.device.type == "cuda" else []
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed % 2**63)
        yield


@torch.inference_mode()
def generate(
    model: CausalLM,
    base: LoadedBase,
    prompts: Sequence[Sequence[int]],
    tokens: int,
    stop_if_cancelled: Callable[[], None],
) -> list[list[int]]:
    """For each prompt the greedy answer, without the token that ends the turn. Raises Cancelled."""
    listener, ends = Interruptible(stop_if_cancelled), end_tokens(base)
    answers = continued(model, base, prompts, tokens, choosing=GREEDY, listener=listener)
    return [until(answer, ends) for answer in answers]


def until(answer: Sequence[int], ends: frozenset[int]) -> list[int]:
    return list(answer[: next((place for place, token in enumerate(answer) if token in ends), len(answer))])


def continued(
    model: CausalLM,
    base: LoadedBase,
    prompts: Sequence[Sequence[int]],
    tokens: int,
    *,
    choosing: Mapping[str, Any],
    listener: StoppingCriteria,
) -> list[list[int]]:
    """What follows each prompt, at most `tokens` tokens, the one that ends the turn and padding behind it included.

    `choosing`: GREEDY, or how tokens are drawn. Prompts are padded on the left.
    """
    longest = max(map(len, prompts))
    padding = base.tokenizer.pad_token_id or base.tokenizer.eos_token_id or 0
    ids = [[padding] * (longest - len(prompt)) + list(prompt) for prompt in prompts]
    mask = [[0] * (longest - len(prompt)) + [1] * len(prompt) for prompt in prompts]
    output = model.generate(
        input_ids=torch.tensor(ids, device=base.device),
        attention_mask=torch.tensor(mask, device=base.device),
        **choosing,
        max_new_tokens=tokens,
        use_cache=True,
        stopping_criteria=StoppingCriteriaList([listener]),
        pad_token_id=padding,
    )
    found: list[list[int]] = output[:, longest:].tolist()
    return found


class Interruptible(StoppingCriteria):  # type: ignore[misc]
    """Asked after each token; raises Cancelled, and never ends an answer itself."""

    def __init__(self, stop_if_cancelled: Callable[[], None]) -> None:
        self._stop_if_cancelled = stop_if_cancelled

    def __call__(self, input_ids: torch.Tensor, scores: Any, **_: Any) -> torch.Tensor:
        self._stop_if_cancelled()
        return torch.zeros(input_ids.shape[0], dtype=torch.bool, device=input_ids.device)


# Of tokens that only repeat a few: such an answer would go on to the end of the context, as small models' likeliest
# words do. llama-cpp/generate.ts ends the same.
ENDLESS, PERIOD = 512, 32


def endless(said: Sequence[int]) -> bool:
    """Whether what was said last is the same few tokens, over and over."""
    last = said[-ENDLESS:]
    return len(last) == ENDLESS and any(last[period:] == last[:-period] for period in range(1, PERIOD + 1))


class Listener(StoppingCriteria):  # type: ignore[misc]
    """Told of each token. Passes the text on, ends the answer at a stop text or where it is endless, and raises
    Cancelled."""

    def __init__(
        self,
        spec: ChatSpec,
        base: LoadedBase,
        *,
        with_calls: bool,
        cancelled: Callable[[], bool],
        on_text: Callable[[str], None],
    ) -> None:
        self._ends = end_tokens(base)
        self._cancelled = cancelled
        self._on_text = on_text
        self._characters = Detokenizer(base.tokenizer, special=with_calls)
        self._stops = StopTexts(spec.stop)
        self._said: list[int] = []
        self.text = ""

    @property
    def stop_text(self) -> str | None:
        return self._stops.found

    def __call__(self, input_ids: torch.Tensor, scores: Any, **_: Any) -> torch.Tensor:
        if self._cancelled():
            raise Cancelled
        token = int(input_ids[0, -1])
        self._said.append(token)
        if token not in self._ends:
            self._tell(self._stops.add(self._characters.add(token)))
        over = self.stop_text is not None or endless(self._said)
        return torch.full((input_ids.shape[0],), over, dtype=torch.bool, device=input_ids.device)

    def begin(self, opening: str) -> None:
        """What the answer begins with, before the first token."""
        self._tell(opening)

    def finish(self) -> None:
        """No token follows: what was held back is told."""
        if self.stop_text is None:
            self._tell(self._stops.add(self._characters.rest()))
        if self.stop_text is None:
            self._tell(self._stops.rest())

    def _tell(self, piece: str) -> None:
        if piece:
            self.text += piece
            self._on_text(piece)


class Detokenizer:
    """Tokens in, whole characters out: all pieces and the rest together are the text of all tokens, of control tokens
    only with `special`: some families begin a call with one."""

    def __init__(self, tokenizer: Any, *, special: bool = False) -> None:
        self._tokenizer = tokenizer
        self._special = special
        self._tokens: list[int] = []
        self._told = 0  # tokens whose text was given out

    def add(self, token: int) -> str:
        """The text that became whole with this token; often none."""
        self._tokens.append(token)
        text = self._decode(self._tokens)
        piece = text[len(self._decode(self._tokens[: self._told])) :]
        if text.endswith(INCOMPLETE) or not piece:
            return ""
        # What was given out last stays: some decoders write a token differently at the start of a text.
        self._tokens = self._tokens[self._told :]
        self._told = len(self._tokens)
        return piece

    def rest(self) -> str:
        """What never became whole."""
        return self._decode(self._tokens)[len(self._decode(self._tokens[: self._told])) :]

    def _decode(self, tokens: Sequence[int]) -> str:
        text = self._tokenizer.decode(tokens, skip_special_tokens=not self._special, clean_up_tokenization_spaces=False)
        return str(text)


class StopTexts:
    """Text in, text up to the first stop text out. What may be the beginning of one is held back."""

    def __init__(self, stops: Sequence[str]) -> None:
        self._stops = tuple(stops)
        self._held = ""
        self.found: str | None = None  # the text that ended the answer

    def add(self, piece: str) -> str:
        held = self._held + piece
        places = [(held.find(stop), stop) for stop in self._stops if stop in held]
        if places:
            # The one that was complete first, so that the cut does not depend on how the text came in pieces.
            start, self.found = min(places, key=lambda place: (place[0] + len(place[1]), place[0]))
            self._held = ""
            return held[:start]
        kept = max((begun(held, stop) for stop in self._stops), default=0)
        self._held = held[len(held) - kept :]
        return held[: len(held) - kept]

    def rest(self) -> str:
        """What was held back, once nothing follows any more."""
        return self._held


def begun(text: str, stop: str) -> int:
    """How many characters at the end of `text` are the beginning of `stop`."""
    longest = min(len(text), len(stop) - 1)
    return next((length for length in range(longest, 0, -1) if text.endswith(stop[:length])), 0)
