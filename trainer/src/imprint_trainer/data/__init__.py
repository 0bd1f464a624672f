"""From a canonical session to windows of tokens with a mask."""
