"""The closed-form imprint: an adapter solved from what one forward pass over a session shows (ADR 35)."""
