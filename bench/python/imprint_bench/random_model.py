"""Writes a Llama-shaped model of about 1.1 billion random weights, with the tokenizer of another."""

import sys
from pathlib import Path

import torch
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM
from transformers.initialization import no_init_weights

folder, tokenizer = Path(sys.argv[1]), sys.argv[2]
torch.set_default_dtype(torch.bfloat16)
config = LlamaConfig(
    hidden_size=2048,
    intermediate_size=5632,
    num_hidden_layers=22,
    num_attention_heads=32,
    num_key_value_heads=4,
    vocab_size=49152,
    max_position_embeddings=8192,
    tie_word_embeddings=True,
)
with no_init_weights():
    model = LlamaForCausalLM(config)
with torch.no_grad():
    for parameter in model.parameters():
        column = torch.randn(1024).mul(0.02).to(parameter.dtype)
        parameter.view(-1).copy_(column.repeat(parameter.numel() // 1024 + 1)[: parameter.numel()])
model.save_pretrained(folder)
AutoTokenizer.from_pretrained(tokenizer, local_files_only=True).save_pretrained(folder)
