"""What the worker does for each kind of request."""
