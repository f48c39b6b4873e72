"""How well the search finds what answers a question, and whether it knows when nothing does."""
