"""What the model may call. One module a family; `registry` runs a call and never raises."""
