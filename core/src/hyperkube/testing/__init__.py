"""What the tests of plugins may import: builders, contracts, clusters."""
