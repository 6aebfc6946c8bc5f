"""Container Network Interface, specification 1.1.0 back to 0.1.0: what libcni is to programs of Go.

`network_list` and `configuration` read configurations, `program` runs one program, `result` reads what it answers,
`cache` remembers it, `network` is a network of chained programs, and `pod_network` makes a pod network of one.
"""
