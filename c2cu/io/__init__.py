"""Runs from files to files, a group of inputs at a time, which can be resumed.

`arguments` makes a job of the names on the command line, `runs` runs it, `sources` reads inputs, `sinks` writes
outputs, `journal` says what an interrupted run has done. `files` and `zarr_files` know the formats; `whole_program`
runs a program with a main() of its own.
"""
