"""How statements are laid out for readers."""

import pytest

from tests.sql.layout import WIDTH, laid_out, tokens


def test_each_clause_has_a_line() -> None:
    assert laid_out("select 1") == "select 1\n"
    statement = "SELECT a,b  FROM t\nWHERE c = %(c)s AND d BETWEEN 1 AND 2 ORDER BY a LIMIT 1"
    assert laid_out(statement) == ("SELECT a,b\nFROM t\nWHERE c = %(c)s AND d BETWEEN 1 AND 2\nORDER BY a\nLIMIT 1\n")


def test_what_is_too_long_for_a_line_is_divided_at_its_loosest_joint() -> None:
    long, wide = "x" * 60, "y" * 70
    assert laid_out(f"SELECT 1 FROM t WHERE {long} = 1 AND ({wide} = 2 OR {long} = 3)") == (
        f"SELECT 1\nFROM t\nWHERE {long} = 1\n    AND (\n        {wide} = 2\n        OR {long} = 3\n    )\n"
    )
    assert laid_out(f"SELECT '{{\"a\":' || {long} || ',\"b\":' || {wide}") == (
        f"SELECT '{{\"a\":' || {long}\n    || ',\"b\":' || {wide}\n"
    )


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT 'a  b -- ''c''', \"d e\" || E'\\n' -- why (\nFROM t WHERE a -> 'b' @> %(c)s::jsonb[] AND 1e-300 <= x.y",
        "WITH w AS (DELETE FROM t USING u WHERE t.a IS DISTINCT FROM u.a RETURNING t.*) SELECT CASE WHEN a THEN b END",
    ],
)
def test_nothing_but_white_space_changes(statement: str) -> None:
    made = laid_out(statement)
    assert (tokens(made), laid_out(made)) == (tokens(statement), made)
    assert max(len(line) for line in made.splitlines()) <= WIDTH


def test_what_is_no_token_is_noticed() -> None:
    with pytest.raises(ValueError, match="no token begins with"):
        laid_out("SELECT $1")
    with pytest.raises(ValueError, match="is missing"):
        laid_out("SELECT (1")
