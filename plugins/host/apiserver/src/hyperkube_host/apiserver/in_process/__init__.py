"""The API for the parts of this process, without a socket."""
