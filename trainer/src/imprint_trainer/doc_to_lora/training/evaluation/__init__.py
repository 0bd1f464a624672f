"""What a hypernetwork's adapters can do, by real greedy generation."""
