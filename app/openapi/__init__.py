"""The OpenAPI document: it is made from the marks of views, from schemas, and from parts that are written by hand."""
