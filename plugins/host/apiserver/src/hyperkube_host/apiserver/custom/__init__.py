"""Custom resources: definitions become `ResourceSpec`s at run time, served like any built-in resource."""
