"""The rules of a project: the requests that they match, when they are due, and what they do."""
