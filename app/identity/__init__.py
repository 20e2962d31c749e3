"""Identity: API clients, access tokens, scopes, and the gate that checks them."""
