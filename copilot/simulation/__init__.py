"""A recorded investigation as it would have gone under another policy. No model, no disk."""
