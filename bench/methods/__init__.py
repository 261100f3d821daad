"""All methods on the same data and the same splits."""
