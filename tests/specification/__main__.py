"""``make specification``: write what is made from the specification anew."""

from tests.specification.clauses import CLAUSES, DATA, as_json

if __name__ == "__main__":
    for path in DATA:
        path.write_text(as_json(CLAUSES), "utf-8")
    print(f"{len(CLAUSES)} clauses")  # noqa: T201 -- what the command has to say
