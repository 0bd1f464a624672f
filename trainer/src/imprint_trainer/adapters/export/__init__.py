"""Adapters in the formats of other programs: a GGUF file for llama.cpp, or merged into the base model."""
