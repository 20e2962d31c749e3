"""The sandbox projects: their rows, their state in the process, their clocks and ids."""
