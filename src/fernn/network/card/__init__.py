"""Training thousands of restarts at once on one NVIDIA card, by torch and Triton; loaded when it is asked for.

`text` writes a network as the code of one sample, `kernel` compiles it for a card, `loops` runs it on tensors anywhere;
`weights` goes from what is learned to what that code reads and back, `epochs` trains.
"""
