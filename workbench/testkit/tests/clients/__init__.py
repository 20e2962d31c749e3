"""Third-party linters, generators and clients that check the contract. Marked ``contract``."""
