"""The OpenAPI document: it is made from the marks of views and from tables."""
