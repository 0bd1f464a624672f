"""Sweeps: several trainings on the same windows, of which held-out text chooses one."""
