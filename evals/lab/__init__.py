"""The fault laboratory: real training jobs on the CPU, broken on purpose, with the truth beside them."""
