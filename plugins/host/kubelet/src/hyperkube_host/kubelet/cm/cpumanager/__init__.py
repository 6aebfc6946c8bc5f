"""The CPU manager: which CPUs a container may run on, and which it has for itself."""
