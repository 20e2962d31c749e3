"""The OpenAPI document: what views say of themselves, the tables beside them, and the document made of both."""
