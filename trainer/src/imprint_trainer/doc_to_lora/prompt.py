"""A document as the context encoder reads it: chat template, empty system turn, generation prompt (section 3.1)."""

from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from imprint_trainer.doc_to_lora.chunks import Affixes
from imprint_trainer.doc_to_lora.families import family_of
from imprint_trainer.errors import TemplateUnsupported

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
