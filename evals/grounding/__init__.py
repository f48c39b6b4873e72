"""How much of what is planted the check of answers catches, and how much sound text it marks."""
