"""How steps reach a run: the line protocol of INTERLOCK_SOCKET, its server and client, and the numbering of steps."""
