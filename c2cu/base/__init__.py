"""What all packages need: diagnostics, C types, the host's compiler, the cache."""
