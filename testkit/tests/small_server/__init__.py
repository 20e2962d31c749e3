"""A server in memory that the kit's own tests run it against.

It was written from the specification alone and shares no code with the service, so that a check which holds only of the
service's accidents fails here. Every rule that a test may want to break is a method, so a fault is planted by replacing
a method of one server (the folder ``faults`` beside this one), and no code here knows of faults.
"""
