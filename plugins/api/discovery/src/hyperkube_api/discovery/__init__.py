"""API group discovery: EndpointSlices."""
