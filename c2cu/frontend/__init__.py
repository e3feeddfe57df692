"""From a C file to a typed tree, and its kernel with the parameters that go in and out."""
