"""Priority and fairness: which requests are answered at once, which wait for which, and which are turned away."""
