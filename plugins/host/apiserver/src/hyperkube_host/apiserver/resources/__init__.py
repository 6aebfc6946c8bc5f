"""What is served: the registry of resources and how each is stored."""
