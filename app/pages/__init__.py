"""Pages for people: their files, the header and the style sheet that all of them share, and how they are answered."""
