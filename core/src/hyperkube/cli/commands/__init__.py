"""The commands beside the servers: one file each, with a click command named `command`."""
