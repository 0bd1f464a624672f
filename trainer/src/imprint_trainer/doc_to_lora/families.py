"""Base models with a published hypernetwork: the exact text and ids around a document (section 3)."""

import re
from dataclasses import dataclass

from imprint_trainer.doc_to_lora.chunks import Affixes


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
