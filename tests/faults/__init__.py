"""What the service does when something breaks, and under attack: ``make faults``, which takes some minutes."""
