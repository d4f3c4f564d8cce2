"""Real servers that tests start on loopback."""
