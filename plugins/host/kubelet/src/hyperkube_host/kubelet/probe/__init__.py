"""One check of a container: a command, an HTTP request, a TCP connection. Source: kubernetes ``pkg/probe``."""
