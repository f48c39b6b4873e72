"""Recipes of data-parallel jobs, and what all recipes share."""
