"""The verbs: one module for each way of reading and writing a resource."""
