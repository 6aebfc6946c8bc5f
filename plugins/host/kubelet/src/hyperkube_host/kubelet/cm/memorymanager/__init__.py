"""The memory manager: from which NUMA nodes a container's memory comes."""
