"""`python -m c2cu`."""

from .cli import main

main()
