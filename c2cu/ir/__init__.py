"""The flat IR: one kernel, no calls, no pointers; four kinds of statement, nine of expression."""
