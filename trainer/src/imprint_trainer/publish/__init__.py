"""Adapters on disk: written in PEFT's format, loaded again, proved, described and exported."""
