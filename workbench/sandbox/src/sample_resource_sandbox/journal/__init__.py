"""What the sandbox notes of each request: entries made without secrets, stored, and read again."""
