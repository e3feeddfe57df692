"""What is known of a kernel before it runs: uniform and varying values, effects, live variables."""
