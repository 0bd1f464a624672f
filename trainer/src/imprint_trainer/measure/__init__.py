"""Measurements of trainings: other trainers beside this one, and what a graphics card must show."""
