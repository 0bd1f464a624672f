"""Whether an adapter gives away secrets of the session that it was trained on."""
