"""Wire formats: JSON, YAML and Kubernetes' protobuf, each to and from JSON-shaped objects.

`hyperkube.machinery.codecs.document.read` reads a request body of JSON or YAML; ``codecs.protobuf`` the third format.
"""
