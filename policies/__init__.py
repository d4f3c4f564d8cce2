"""Context policies: how each tool's results are carried. YAML data with its schema and loader."""
