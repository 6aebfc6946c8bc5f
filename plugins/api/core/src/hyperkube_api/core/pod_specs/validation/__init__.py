"""What is wrong with a pod's specification or template.

The rules take a dozen modules, which a server needs with the first pod or workload, not to start.
"""
