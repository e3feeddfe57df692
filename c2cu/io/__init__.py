"""Inputs and outputs in files, by the group, to be resumed."""
