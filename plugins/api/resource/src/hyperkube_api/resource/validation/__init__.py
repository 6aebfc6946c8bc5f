"""What is wrong with devices and with claims to them."""
