"""Requests that end up elsewhere: at a pod's node (logs, exec, port-forward) or a proxied node, pod or service."""
