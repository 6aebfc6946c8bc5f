"""Pod templates as objects of their own."""
