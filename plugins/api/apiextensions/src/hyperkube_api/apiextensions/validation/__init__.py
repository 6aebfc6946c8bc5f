"""What is wrong with custom resource definitions."""
