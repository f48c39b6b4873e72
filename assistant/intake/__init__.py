"""Find files, read them in bounded memory, and say who wrote each line: node, rank, time, stage, iteration."""
