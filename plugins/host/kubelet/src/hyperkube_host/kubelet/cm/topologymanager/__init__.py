"""The topology manager: CPUs, memory and devices of a container from the same NUMA nodes."""
