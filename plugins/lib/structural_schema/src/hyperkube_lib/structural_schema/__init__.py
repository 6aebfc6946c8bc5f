"""Objects of kinds that users define: what their structural schema says about them."""
