"""What the service does when something breaks, and under attack."""
