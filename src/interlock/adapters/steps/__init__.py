"""Reports steps to a run: the line protocol of INTERLOCK_SOCKET, its server and client, and step numbers."""
