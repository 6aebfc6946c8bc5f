"""Whether they may: the authorizers in order, from flags or from an AuthorizationConfiguration."""
