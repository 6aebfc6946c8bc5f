"""The hyperkube command: one file per subcommand, the servers' flags as tables under `flags/`."""
