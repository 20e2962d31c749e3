"""The routes of the sandbox: their bodies and queries, their OpenAPI document, and the guard."""
