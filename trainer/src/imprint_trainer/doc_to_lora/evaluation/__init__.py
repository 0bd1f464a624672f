"""What a hypernetwork's adapters do for real sessions, for facts in natural words, and to everything else.

The lists of `set_dev.py` serve development. Those of `set_test.py` are sealed: no weights, setting or threshold is
ever chosen by a result on them; they are measured once, for what is then reported.
"""
