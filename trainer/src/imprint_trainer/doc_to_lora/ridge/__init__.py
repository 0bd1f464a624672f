"""Adapters solved in closed form from what one forward pass over a session shows (ADR 35)."""
