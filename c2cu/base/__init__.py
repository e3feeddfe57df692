"""What every package stands on: diagnostics, C types, the toolchain, the cache."""
