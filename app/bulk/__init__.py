"""Many resources at once: generated, exported, imported."""
