"""Ingresses: which hosts and paths from outside lead to which Services."""
