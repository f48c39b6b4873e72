"""What happened before: public incidents, and the cases that a team confirmed."""
