"""The container manager: cgroups, and what containers get of CPUs, memory and devices."""
