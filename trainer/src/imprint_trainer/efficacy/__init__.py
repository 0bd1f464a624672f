"""Does training on some sessions of a repository help on the next one? A study over groups of recorded sessions."""
