"""Published checkpoints (pickles) and converted hypernetworks (safetensors and JSON)."""
