"""The reference's numbers, recomputed and compared: `python -m imprint_trainer.doc_to_lora.parity DIR`."""
