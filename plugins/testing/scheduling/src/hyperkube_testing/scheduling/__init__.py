"""Node tables for tests of scheduling plugins, and the contracts of the family."""
