"""Third-party linters, generators and clients that check the contract. ``make contract`` runs them all."""
