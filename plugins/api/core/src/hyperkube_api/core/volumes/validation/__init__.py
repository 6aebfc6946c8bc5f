"""What is wrong with the sources of volumes."""
