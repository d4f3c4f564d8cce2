"""The models that may investigate: Claude, or the offline rules. One interface."""
