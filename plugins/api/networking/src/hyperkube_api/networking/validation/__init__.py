"""What is wrong with network rules."""
