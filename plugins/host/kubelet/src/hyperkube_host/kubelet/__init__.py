"""The kubelet: the agent that runs the pods of one node."""
