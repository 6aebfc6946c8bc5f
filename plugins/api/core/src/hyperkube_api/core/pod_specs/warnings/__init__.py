"""What is allowed in a pod's specification or template and yet unwise."""
