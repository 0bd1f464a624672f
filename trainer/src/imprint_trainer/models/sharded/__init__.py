"""A frozen base of which each process of a group holds a part: blocks are gathered one at a time (docs/adr/0040)."""
