"""Answers: prompts, greedy and sampled generation, and their text."""
