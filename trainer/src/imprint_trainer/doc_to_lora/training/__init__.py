"""Training of a hypernetwork for a base model of one's own (section 11)."""
