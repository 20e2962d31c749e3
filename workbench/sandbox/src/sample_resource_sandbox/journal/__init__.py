"""The journal of requests: its entries, shown without secrets, and their form as an HTTP archive."""
