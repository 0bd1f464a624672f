"""Writes a tiny causal language model to a folder, in seconds and without a network."""

from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import AutoConfig, AutoModelForCausalLM, GenerationConfig, PreTrainedTokenizerFast

TEMPLATE = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
CORPUS = [
    "def parse_price(text): return text",
    "the agent reads the file and runs the tests",
    "<tool_call> user assistant",
]


# What each family's head does to its logits is set so that a head without it is far off. Four layers with a window of
# 16 tokens: where families mix attention, both kinds are there and differ on longer texts.
FAMILIES: dict[str, dict[str, Any]] = {
    "llama": {},
    "granite": {
        "logits_scaling": 8.0,
        "embedding_multiplier": 12.0,
        "residual_multiplier": 0.22,
        "attention_multiplier": 0.1,
    },
    "cohere": {"logit_scale": 0.0625},
    "cohere2": {"logit_scale": 0.0625, "sliding_window": 16},
    "gemma2": {"final_logit_softcapping": 5.0, "sliding_window": 16},
    "gemma3_text": {
        "final_logit_softcapping": 5.0,
        "sliding_window": 16,
        "layer_types": ["sliding_attention", "full_attention", "sliding_attention", "full_attention"],
    },
    "hyperclovax": {"logits_scaling": 0.125},
    "falcon_h1": {
        "lm_head_multiplier": 0.125,
        "mamba_d_ssm": 64,
        "mamba_n_heads": 4,
        "mamba_d_state": 8,
        "mamba_chunk_size": 16,
    },
    "recurrent_gemma": {"logits_soft_cap": 5.0},
    "llama4_text": {},
}


def write_family(folder: Path, family: str) -> Path:
    """A tiny model of a family, with the same tokenizer."""
    return write_tiny_model(folder, model_type=family, num_hidden_layers=4, head_dim=16, **FAMILIES[family])


def write_tiny_model(folder: Path, model_type: str = "llama", **changes: Any) -> Path:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    specials = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        CORPUS,
        trainers.BpeTrainer(vocab_size=320, special_tokens=specials, initial_alphabet=alphabet, show_progress=False),
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<|im_start|>",
        eos_token="<|im_end|>",
        unk_token="<|endoftext|>",
        pad_token="<|endoftext|>",
        chat_template=TEMPLATE,
    ).save_pretrained(folder)
    torch.manual_seed(0)
    settings: dict[str, Any] = {
        "vocab_size": 320,
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 512,
        "tie_word_embeddings": True,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "pad_token_id": 0,  # torch zeroes this token's embedding, and the head is tied: not the end of turn
        "initializer_range": 0.2,
        **changes,
    }
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model(model_type, **settings), dtype=torch.float32)
    model.generation_config = GenerationConfig(bos_token_id=1, eos_token_id=2, pad_token_id=0)
    model.save_pretrained(folder)
    return folder
