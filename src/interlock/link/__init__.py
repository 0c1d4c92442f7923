"""How processes talk: unix sockets, the NATS hub."""
