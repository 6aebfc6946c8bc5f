"""The Store protocol and its promises, the in-memory twin, and the watch cache that reads are served from."""
