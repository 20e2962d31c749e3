"""The echo endpoints (interface 4.9 and 4.13): their parameters and bodies, and the arrays that they answer."""
