"""What the model carries: the request, the artifacts, the meter. Pure functions and values."""
