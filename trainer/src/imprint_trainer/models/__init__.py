"""Base models: what may be loaded, how, and the default one."""
