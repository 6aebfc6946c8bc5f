"""The chain of admission plugins: which run, in which order, with which configuration."""
