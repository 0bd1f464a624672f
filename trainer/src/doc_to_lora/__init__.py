"""Doc-to-LoRA: a document, one forward pass, one LoRA adapter (arXiv 2602.15902).

Sections named in this package: 2 checkpoint files, 3 text to chunks, 4 context encoder, 5 Perceiver, 6 head, 7 merge,
8 application and PEFT export, 9 state-dict keys, 10 initialisation, 15 traps.
"""
