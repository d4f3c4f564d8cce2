"""The daemon: alerts become incidents, incidents become investigations, and none is lost."""
