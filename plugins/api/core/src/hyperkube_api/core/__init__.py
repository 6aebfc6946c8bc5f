"""API group core: Pods, Services, Nodes and the other kinds of the core API group."""
