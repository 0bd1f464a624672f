"""Measurements of the trainer: programs of benchmarks and of the check of a graphics card; no part of the product."""

from imprint_trainer.environment import settle_environment

settle_environment()  # before torch is imported
