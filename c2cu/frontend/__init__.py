"""From a C file to a typed tree, and what crosses the border of its kernel."""
