"""The HTTP edge that every server uses: TLS, health, metrics, streams, the protocol, the Flask bridge."""
