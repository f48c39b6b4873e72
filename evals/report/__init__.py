"""`evals/REPORT.md` and its plots, written from answers and from nothing else."""
