"""What the removed versions look like: declared anew only where they differ from the versions of today."""
