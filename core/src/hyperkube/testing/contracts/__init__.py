"""One module per plugin family: its promises as test classes to subclass."""
