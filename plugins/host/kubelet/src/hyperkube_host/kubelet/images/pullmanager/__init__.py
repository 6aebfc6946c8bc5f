"""Which pods may use an image that is on the node already: by records of what was pulled with which credentials.

Source: kubernetes ``pkg/kubelet/images/pullmanager``.
"""
