"""What a program costs and what this machine offers, as text, JSON and picture."""
