"""A verdict for people and for programs: terminal, HTML, JUnit XML, JSON."""
