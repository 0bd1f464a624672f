"""Writes a tiny causal language model to a folder, in seconds and without a network."""

from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForImageTextToText,
    GenerationConfig,
    PreTrainedTokenizerFast,
)

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


SIZES: dict[str, Any] = {
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
}
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
MAMBA = {"mamba_n_heads": 4, "mamba_d_head": 32, "mamba_d_state": 8, "mamba_chunk_size": 16}
DELTA = {
    "layer_types": ["linear_attention", "full_attention"] * 2,
    "linear_num_value_heads": 4,
    "linear_num_key_heads": 2,
    "linear_key_head_dim": 16,
    "linear_value_head_dim": 16,
}
# Families some of whose layers are no attention.
HYBRIDS: dict[str, dict[str, Any]] = {
    "falcon_h1": FAMILIES["falcon_h1"],
    "nemotron_h": {
        "layers_block_type": ["mamba", "attention", "mamba", "mlp"],
        "mamba_num_heads": 4,
        "mamba_head_dim": 16,
        "ssm_state_size": 8,
        "n_groups": 1,
        "chunk_size": 16,
    },
    "bamba": {**MAMBA, "attn_layer_indices": [1]},
    "granitemoehybrid": {
        **MAMBA,
        "layer_types": ["mamba", "attention"] * 2,
        "num_local_experts": 0,
        "num_experts_per_tok": 0,
        "shared_intermediate_size": 128,
    },
    "lfm2": {"layer_types": ["conv", "full_attention"] * 2},
    "qwen3_next": {**DELTA, "num_experts": 0, "mlp_only_layers": [0, 1, 2, 3]},
    "qwen3_5_text": DELTA,
    "jamba": {"num_experts": 1, "attn_layer_period": 2, "attn_layer_offset": 1, "use_mamba_kernels": False},
    "falcon_mamba": {"state_size": 8},
    "zamba2": {
        "mamba_d_state": 8,
        "n_mamba_heads": 2,
        "mamba_headdim": 64,
        "chunk_size": 16,
        "layers_block_type": ["mamba", "hybrid"] * 2,
        "num_mem_blocks": 1,
    },
}
# Others that people train.
PLAIN: dict[str, dict[str, Any]] = {
    "mistral": {},
    "ministral3": {},
    "qwen2": {},
    "qwen3": {},
    "smollm3": {},
    "phi3": {},
    "glm4": {},
    "gemma4_text": {
        "final_logit_softcapping": 5.0,
        "sliding_window": 16,
        "layer_types": ["sliding_attention", "full_attention"] * 2,
        "global_head_dim": 16,
        "hidden_size_per_layer_input": 16,
        "vocab_size_per_layer_input": 320,
    },
}
MROPE = {"rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [2, 3, 3]}}
# Families that read images too: changes of the text's part, and of the images'.
WITH_IMAGES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "gemma3": ({}, {}),
    "mistral3": ({}, {}),
    "qwen2_5_vl": (MROPE, {"out_hidden_size": 64}),
    "qwen3_vl": (MROPE, {"out_hidden_size": 64, "deepstack_visual_indexes": [0]}),
    "qwen3_5": (DELTA, {"out_hidden_size": 64}),
    "llava": ({}, {}),
    "lfm2_vl": (HYBRIDS["lfm2"], {}),
}
TOWER = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "depth": 2,
    "num_attention_heads": 2,
    "num_heads": 2,
    "image_size": 28,
    "patch_size": 14,
}


def write_family(folder: Path, family: str) -> Path:
    """A tiny model of a family, with the same tokenizer."""
    if family in WITH_IMAGES:
        return write_with_images(folder, family)
    changes = (FAMILIES | HYBRIDS | PLAIN)[family]
    return write_tiny_model(folder, model_type=family, num_hidden_layers=4, head_dim=16, **changes)


def write_with_images(folder: Path, family: str) -> Path:
    write_tokenizer(folder)
    usual = AutoConfig.for_model(family).to_dict()
    text, images = WITH_IMAGES[family]
    tower = {key: value for key, value in (TOWER | images).items() if key in usual["vision_config"]}
    config = AutoConfig.for_model(
        family,
        text_config={
            "model_type": usual["text_config"]["model_type"],
            **SIZES,
            "num_hidden_layers": 4,
            "head_dim": 16,
            **text,
        },
        vision_config={"model_type": usual["vision_config"]["model_type"], **tower},
    )
    return write_model(folder, AutoModelForImageTextToText.from_config(config, dtype=torch.float32))


def write_tiny_model(folder: Path, model_type: str = "llama", **changes: Any) -> Path:
    write_tokenizer(folder)
    torch.manual_seed(0)
    config = AutoConfig.for_model(model_type, **SIZES | changes)
    return write_model(folder, AutoModelForCausalLM.from_config(config, dtype=torch.float32))


def write_model(folder: Path, model: Any) -> Path:
    model.generation_config = GenerationConfig(bos_token_id=1, eos_token_id=2, pad_token_id=0)
    model.save_pretrained(folder)
    return folder


def write_tokenizer(folder: Path) -> None:
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
