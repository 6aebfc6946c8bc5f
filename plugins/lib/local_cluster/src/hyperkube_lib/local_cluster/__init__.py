"""The folder of a local cluster: where its files are, and the upkeep of its store."""
