"""API group authentication: TokenReviews and TokenRequests."""
