"""The pages for people: their files, their common header and style sheet, and the functions that answer them."""
