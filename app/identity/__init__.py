"""Identity: API clients, access tokens and the keys that sign them, scopes, and the gate that checks them."""
