"""What the service does when something breaks or somebody means ill: ``make faults``, which takes some minutes."""
