"""Several trainings on one resident base: one at a time has it, and gradients of short windows are computed in one pass."""
