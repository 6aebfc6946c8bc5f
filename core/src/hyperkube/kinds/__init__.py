"""Pure functions on built-in objects that several rooms need: pods, workloads, rules, quota, taints."""
