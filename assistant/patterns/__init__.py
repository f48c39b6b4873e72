"""The three comparisons of L4 (FSE 2025): with healthy jobs, of nodes and of iterations with each other."""
