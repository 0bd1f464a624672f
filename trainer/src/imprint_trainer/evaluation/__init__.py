"""Does an adapter help on sessions that it was not trained on? Losses, next actions, and a verdict in words."""
