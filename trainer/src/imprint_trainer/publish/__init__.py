"""Adapters on disk: written in PEFT's format, loaded again, and proved."""
