"""Trains LoRA adapters from recorded coding sessions."""
