"""What a node's cloud says of it, where the kubelet asks the cloud itself (``--cloud-provider=NAME``)."""
