"""hyperkube completion: scripts that have a shell complete commands and flags."""
