"""Other people's tools and clients, which prove the contract; ``make contract`` runs them all."""
