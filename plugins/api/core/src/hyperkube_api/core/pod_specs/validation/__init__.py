"""What is wrong with a pod's specification or template."""
