"""Training of LoRA adapters on a resident base model."""
