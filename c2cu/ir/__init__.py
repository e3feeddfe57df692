"""The flat IR: one kernel, no calls, no pointers; three kinds of statement, nine of expression."""
