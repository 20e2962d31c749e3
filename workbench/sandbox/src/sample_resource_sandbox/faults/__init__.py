"""What is done to a request on order, before and after its view."""
