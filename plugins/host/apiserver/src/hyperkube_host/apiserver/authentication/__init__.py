"""Who asks: the authenticators in order, and the tokens that the server signs itself."""
