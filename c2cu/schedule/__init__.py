"""How p inputs are laid over threads and lanes: a folder a schedule, one line each in `registry`."""
