"""The load kit: a cluster of hollow nodes, upstream's load on it, and its service levels as clients see them.

``./dev scale`` runs it. Servers run as processes of their own, so that each one's processor time and memory is known;
nodes live in a few processes and send what kubelets send; everything is measured from outside.
"""
