"""One training on several processes: the first one trains, and others take their share of the windows of each step.

The first process alone has the optimizer, the schedule, checkpoints and the protocol. A member is told which windows
are its own, gets the factors, and gives back its losses and the sum of its gradients (docs/adr/0036).
"""
