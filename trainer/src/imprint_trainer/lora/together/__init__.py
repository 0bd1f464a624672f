"""Several trainings on one resident base: one has it at a time, and short windows of several share a pass."""
