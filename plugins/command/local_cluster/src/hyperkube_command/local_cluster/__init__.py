"""What `hyperkube up` is made of: the data folder, certificates, and the servers in one process or in five."""
