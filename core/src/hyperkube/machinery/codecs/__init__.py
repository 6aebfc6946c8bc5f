"""Wire formats: JSON, YAML and Kubernetes' protobuf, each to and from JSON-shaped objects.

The API server reads request bodies with `json` and `yaml`; `protobuf` is the third format.
"""
