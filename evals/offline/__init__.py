"""Whether the offline answerer understands what people ask, says what is true, and blames nobody wrongly."""
