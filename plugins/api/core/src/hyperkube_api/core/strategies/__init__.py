"""What is particular to each core resource when it is created, updated and deleted."""
