"""Read-only questions to a case: what the screen, the offline answerer, the model and other programs may ask."""
