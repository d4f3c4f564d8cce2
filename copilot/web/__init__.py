"""The HTTP side of the daemon: alerts in, incidents out, health. The only door to its vendors."""
