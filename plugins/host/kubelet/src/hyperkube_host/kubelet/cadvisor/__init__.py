"""What the machine is, as cAdvisor tells the kubelet."""
