"""Carries out rules on a request, before and after its view."""
