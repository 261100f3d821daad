"""Methods beside each other on the same data."""
