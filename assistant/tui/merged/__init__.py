"""Several logs as one sequence by corrected time: lines, the book behind them, and their screen."""
