"""Chat template families: the originals that trl ships where it ships them, else small ones that behave the same."""

import importlib.util
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

CORPUS = [
    "The quick brown fox reads the failing test, edits the file and runs the tests again.",
    'def add(a, b):\n    return a + b\n\n{"name": "bash", "arguments": {"command": "ls -la"}}',
    "I will look at the file first. Then I fix the bug. Done, all tests pass now. Thank you!",
    "system user assistant tool tool_call tool_response name arguments characters cut",
]

# SmolLM2 writes its own system prompt when none is given.
CHATML_DEFAULT_SYSTEM = (
    "{% for message in messages %}{% if loop.first and message.role != 'system' %}"
    "{{ '<|im_start|>system\nYou are a small assistant<|im_end|>\n' }}{% endif %}"
    "{{ '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)

# Mistral moves the system text into the last user message, refuses turns out of order and ids of other lengths,
# and has no generation prompt.
MISTRAL = (
    "{% if messages[0].role == 'system' %}{% set system = messages[0].content + '\n\n' %}{% set turns = messages[1:] %}"
    "{% else %}{% set system = '' %}{% set turns = messages %}{% endif %}{{ bos_token }}"
    "{% set ns = namespace(user=true, last=0) %}{% for m in turns %}"
    "{% if m.role == 'user' %}{% set ns.last = loop.index0 %}{% endif %}"
    "{% if m.role == 'user' or (m.role == 'assistant' and not m.tool_calls) %}"
    "{% if (m.role == 'user') != ns.user %}{{ raise_exception('roles must alternate') }}{% endif %}"
    "{% set ns.user = not ns.user %}{% endif %}{% endfor %}"
    "{% if tools %}{{ '[AVAILABLE_TOOLS]' + (tools | tojson) + '[/AVAILABLE_TOOLS]' }}{% endif %}"
    "{% for m in turns %}{% if m.role == 'user' %}"
    "{{ '[INST]' + (system if loop.index0 == ns.last else '') + m.content + '[/INST]' }}"
    "{% elif m.role == 'tool' %}{{ '[TOOL_RESULTS]' + m.content + '[/TOOL_RESULTS]' }}"
    "{% elif m.tool_calls %}{{ m.content + '[TOOL_CALLS][' }}{% for c in m.tool_calls %}"
    "{% if c.id | length != 9 %}{{ raise_exception('ids have nine characters') }}{% endif %}"
    "{{ (', ' if not loop.first else '') + '{\"name\": \"' + c.function.name + '\", \"arguments\": ' }}"
    "{{ (c.function.arguments | tojson) + ', \"id\": \"' + c.id + '\"}' }}{% endfor %}{{ ']' + eos_token }}"
    "{% else %}{{ m.content + eos_token }}{% endif %}{% endfor %}"
)


@dataclass(frozen=True)
class Family:
    template: str
    special: tuple[str, ...]
    end: str  # what the model writes to end a turn
    ordinary: tuple[str, ...] = ()  # added tokens that are not special


QWEN = ("<tool_call>", "</tool_call>", "<think>", "</think>", "<tool_response>", "</tool_response>")


def shipped(name: str) -> str:
    spec = importlib.util.find_spec("trl")
    assert spec and spec.submodule_search_locations
    return (Path(spec.submodule_search_locations[0]) / "chat_templates" / f"{name}.jinja").read_text(encoding="utf-8")


def family(name: str) -> Family:
    chatml = ("<|im_start|>", "<|im_end|>")
    llama = ("<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>")
    match name:
        case "chatml":
            return Family(CHATML_DEFAULT_SYSTEM, chatml, "<|im_end|>")
        case "qwen2_5" | "qwen3" | "qwen3_instruct_2507":
            return Family(shipped(name), chatml, "<|im_end|>", QWEN)
        case "llama3" | "llama3_1":
            return Family(shipped(name), llama, "<|eot_id|>")
        case "mistral":
            special = ("[INST]", "[/INST]", "[TOOL_CALLS]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]", "</s>", "<s>")
            return Family(MISTRAL, (*special, "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"), "</s>")
        case "gemma" | "gemma3":
            return Family(shipped(name), ("<bos>", "<start_of_turn>", "<end_of_turn>"), "<end_of_turn>")
        case "phi3":
            return Family(
                shipped(name), ("<|system|>", "<|user|>", "<|assistant|>", "<|end|>", "<|endoftext|>"), "<|end|>"
            )
        case "deepseek_r1_distill" | "deepseekv3":
            source = shipped(name)
            return Family(source, tuple(sorted(set(re.findall("<｜[^｜]+｜>", source)))), "<｜end▁of▁sentence｜>")
        case "gptoss":
            words = ("start", "end", "message", "channel", "call", "return")
            return Family(shipped(name), tuple(f"<|{word}|>" for word in words), "<|return|>")
    raise LookupError(name)


@cache
def trained() -> str:
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=500, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    backend.train_from_iterator(CORPUS, trainer)
    return str(backend.to_str())


def tokenizer_with(
    template: str | None, special: tuple[str, ...], ordinary: tuple[str, ...] = ()
) -> PreTrainedTokenizerFast:
    """A byte-level BPE tokenizer of 500 tokens and the given added ones."""
    backend = Tokenizer.from_str(trained())
    backend.add_special_tokens(list(special))
    backend.add_tokens([AddedToken(token, special=False, normalized=False) for token in ordinary])
    begin = "<s>" if "<s>" in special else next(iter(special), None)
    end = "</s>" if "</s>" in special else next(reversed(special), None)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, bos_token=begin, eos_token=end)
    tokenizer.chat_template = template
    return tokenizer


@cache
def tokenizer_of(name: str) -> PreTrainedTokenizerFast:
    chosen = family(name)
    return tokenizer_with(chosen.template, chosen.special, chosen.ordinary)
