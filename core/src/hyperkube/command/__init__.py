"""The command ``hyperkube``: servers and subcommands by entry point, flags, and the life of a process."""
