"""A document as the base model reads it: the chat template with an empty system turn, and its chunks (section 3)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from imprint_trainer.errors import TemplateUnsupported


@dataclass(frozen=True)
class Affixes:
    """Ids that close one chunk and open the next, so that each reads like a whole prompt."""

    prefix: tuple[int, ...]
    suffix: tuple[int, ...]


def split_chunks(ids: Sequence[int], max_chunk_length: int | None, affixes: Affixes) -> list[list[int]]:
    """`ids` (template included) in ceil(n / max_chunk_length) slices; None or a length below 1 means one chunk."""
    if max_chunk_length is None or max_chunk_length < 1:
        return [list(ids)]
    return split_into(ids, -(-len(ids) // max_chunk_length), affixes)


def split_into(ids: Sequence[int], count: int, affixes: Affixes) -> list[list[int]]:
    """Slices of ceil(n / count) ids, the last one shorter; fewer than `count` can result (section 19.4).

    Affixes are added where a slice does not touch the document's own ends.
    """
    if count <= 1:
        return [list(ids)]
    step = -(-len(ids) // count)
    starts = range(0, len(ids), step)
    return [
        [
            *(affixes.prefix if start > 0 else ()),
            *ids[start : start + step],
            *(affixes.suffix if start + step < len(ids) else ()),
        ]
        for start in starts
    ]


@dataclass(frozen=True)
class Family:
    """`before` and `after` are the prompt's text around the stripped document, system turn empty."""

    names: re.Pattern[str]
    before: str
    after: str
    affixes: Affixes


FAMILIES = (
    Family(
        re.compile(r"gemma-2-\w+-it"),
        "<bos><start_of_turn>user\n\n\n",
        "<end_of_turn>\n<start_of_turn>model\n",
        Affixes((2, 106, 1645, 110), (107, 108, 106, 2516, 108)),
    ),
    Family(
        re.compile(r"mistral-7b-instruct-v0\.2"),
        "<s> [INST] \n\n",
        " [/INST] ",
        # The suffix lacks the template's trailing space token (section 19.8)
        Affixes((1, 733, 16289, 28793, 28705, 13, 13), (733, 28748, 16289, 28793)),
    ),
    Family(
        re.compile(r"qwen3-[\w-]+-instruct-2507"),
        "<|im_start|>system\n<|im_end|>\n<|im_start|>user\n",
        "<|im_end|>\n<|im_start|>assistant\n",
        Affixes((151644, 8948, 198, 151645, 198, 151644, 872, 198), (151645, 198, 151644, 77091, 198)),
    ),
)


def family_of(base_model_name: str) -> Family | None:
    """The family of a hub id, or of a folder named like one."""
    last = re.split(r"[/\\]", base_model_name.rstrip("/\\"))[-1].lower()
    return next((family for family in FAMILIES if family.names.fullmatch(last)), None)


# Texts that begin and end with different tokens: what all their prompts share is the template's own
_PROBES = ("alpha", "7 of 9", "{x}", "Zulu!", "#\n\nq", "ü.")


def render_document(tokenizer: Any, base_model_name: str, text: str) -> str:
    """The prompt around a stripped document. Published families get the reference's exact text whatever template the
    tokenizer carries; raises TemplateUnsupported when there is none to go by."""
    family = family_of(base_model_name)
    if family is not None:
        return family.before + text.strip() + family.after
    user = {"role": "user", "content": text.strip()}
    for messages in ([{"role": "system", "content": ""}, user], [user]):  # some templates refuse a system turn
        try:
            return str(tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True))
        except Exception as error:  # templates raise what they like
            failure = error
    raise TemplateUnsupported(f"The chat template of {base_model_name} cannot render a document: {failure}.")


def document_ids(tokenizer: Any, base_model_name: str, text: str) -> list[int]:
    """Ids of the whole prompt; the template has the special tokens already, none are added."""
    rendered = render_document(tokenizer, base_model_name, text)
    return [int(i) for i in tokenizer(rendered, add_special_tokens=False)["input_ids"]]


def chunk_affixes(tokenizer: Any, base_model_name: str) -> Affixes:
    """The published ids of a known family; for other tokenizers, the ids that the prompts of all probes share."""
    family = family_of(base_model_name)
    if family is not None:
        return family.affixes
    prompts = [document_ids(tokenizer, base_model_name, probe) for probe in _PROBES]
    return Affixes(tuple(_shared(prompts)), tuple(reversed(_shared([ids[::-1] for ids in prompts]))))


def _shared(rows: Sequence[Sequence[int]]) -> list[int]:
    return [column[0] for column in takewhile(lambda column: len(set(column)) == 1, zip(*rows, strict=False))]
