"""Base models: where they come from, and how a GGUF file becomes one."""
