"""One attempt at a job on a machine of a cluster: the worker as a child, its files on shared storage."""
