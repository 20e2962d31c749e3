"""The journal as it is answered: lists, an archive, a stream of events."""
