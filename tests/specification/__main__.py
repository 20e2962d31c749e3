"""``make generate ARGS=specification``: write what is made from the specification anew."""

from tests.specification import made
from tests.specification.clauses import ROOT

if __name__ == "__main__":
    for path, text in made.files().items():
        path.write_text(text, "utf-8")
        print(path.relative_to(ROOT))  # noqa: T201 -- what the command has to say
