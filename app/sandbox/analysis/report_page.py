"""The report as a page that stands alone: one file without scripts, which can be saved and sent."""

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from app.extension import Extension
from app.pages.frame import header, style_of

_STYLE = Markup(style_of("report.css"))  # noqa: S704 -- files of this package

_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()

PAGE_POLICY = (
    f"default-src 'none'; style-src 'sha256-{_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Nothing is loaded; its own style sheet is named by its hash."""

_TROUBLES = {
    "401": "401: the token was refused",
    "409": "409: the version was not the current one",
    "429": "429: too many requests",
    "503": "503: the service was not available",
    "lost": "the answer was lost",
}

_BEGIN = Markup(
    '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    '<title>{title}</title>\n<style>{style}</style>\n</head>\n<body>\n{header}<main id="main">\n'
)
_END = Markup("</main>\n</body>\n</html>\n")


def as_page(made: Mapping[str, Any], base_url: str, extension: Extension) -> str:
    """A report as HTML.

    :param base_url: of the service that made it, to which its header and the numbers of clauses link.
    """
    title = f"Report on {made.get('run') or made['projectKey']}"
    sections = {
        "Findings": _findings(made["findings"], base_url),
        "Recovery": _recovery(made["recovery"]),
        "Exercised": _exercised(made["exercised"]),
    }
    parts = [
        _BEGIN.format(title=title, style=_STYLE, header=header(base_url, None, extension) + "\n"),
        Markup("<h1>{}</h1>\n").format(title),
        Markup('<p class="soft">From {} requests.</p>\n').format(made["requests"]["total"]),
        _summary(made),
        _contents(sections),
        *(Markup('<h2 id="{}">{}</h2>\n{}').format(name.lower(), name, section) for name, section in sections.items()),
        _END,
    ]
    return "".join(parts)


def _contents(names: Iterable[str]) -> Markup:
    links = Markup("\n").join(Markup('<a href="#{}">{}</a>').format(name.lower(), name) for name in names)
    return Markup('<nav class="contents" aria-label="Contents">\n{}\n</nav>\n').format(links)


def _summary(made: Mapping[str, Any]) -> Markup:
    recovery = made["recovery"].values()
    recovered, failed = (
        sum(outcomes[name] for outcomes in recovery for name in names)
        for names in (("recovered",), ("recovered", "gaveUp", "madeWorse", "notJudged"))
    )
    boxes = (
        ("Exercised", f"{made['percent']} %"),
        ("Recovered", f"{recovered} of {failed}"),
        ("Kinds of findings", str(len(made["findings"]))),
    )
    cells = Markup("").join(Markup("<div><dt>{}</dt><dd>{}</dd></div>\n").format(*box) for box in boxes)
    return Markup('<dl class="sums">\n{}</dl>\n').format(cells)


def _table(heads: tuple[str, ...], rows: Iterable[tuple[Any, ...]], name: str) -> Markup:
    """A table; the first cell of a row names it, and numbers stand on the right."""
    made = list(rows)
    if not made:
        return Markup('<p class="soft">None.</p>\n')
    columns = [isinstance(cell, int) for cell in made[0]]
    head = Markup("").join(
        Markup('<th scope="col"{}>{}</th>').format(_right(number), title)
        for title, number in zip(heads, columns, strict=True)
    )
    body = Markup("").join(
        Markup('<tr><th scope="row">{}</th>{}</tr>\n').format(
            row[0],
            Markup("").join(Markup("<td{}>{}</td>").format(_right(isinstance(cell, int)), cell) for cell in row[1:]),
        )
        for row in made
    )
    return Markup(
        '<div class="scroll" tabindex="0" role="group" aria-label="{}"><table class="plain">\n'
        "<thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody>\n</table></div>\n"
    ).format(name, head, body)


def _right(is_number: bool) -> Markup:
    return Markup(' class="n"') if is_number else Markup("")


def _with_code(text: str) -> Markup:
    """Text of Markdown in which only code is marked."""
    parts = [
        Markup("<code>{}</code>").format(part) if at % 2 else Markup("{}").format(part)
        for at, part in enumerate(text.split("`"))
    ]
    return Markup("").join(parts)


def _cut(numbers: list[int]) -> str:
    return ", ".join(str(number) for number in numbers[:5]) + (", ..." if len(numbers) > 5 else "")


def _findings(findings: Iterable[Mapping[str, Any]], base_url: str) -> Markup:
    rows = [
        (
            Markup("<strong>{}</strong><br>{}<br><span class=soft>{}{}</span>").format(
                each["title"], each["detail"], _with_code(each["instead"]), _links_to(each["clauses"], base_url)
            ),
            _where(each["examples"]),
            each["count"],
        )
        for each in findings
    ]
    return _table(("what, and what to do instead", "in requests", "times"), rows, "Findings")


def _links_to(numbers: Sequence[str], base_url: str) -> Markup:
    if not numbers:
        return Markup("")
    links = Markup(", ").join(
        Markup('<a href="{0}/docs/specification#{1}">{1}</a>').format(base_url, number) for number in numbers
    )
    return Markup(" Specification: {}.").format(links)


def _where(examples: Sequence[Mapping[str, Any]]) -> str:
    named = [f"{each['projectKey']}: {each['request']}" for each in examples]
    return ", ".join(named[:5]) + (", ..." if len(named) > 5 else "")


_OUTCOMES = {
    "recovered": Markup('<span class="good">recovered</span>'),
    "gaveUp": Markup('<span class="some">gave up</span>'),
    "madeWorse": Markup('<span class="bad">made it worse</span>'),
    "notJudged": Markup("not judged"),
}


def _recovery(recovery: Mapping[str, Any]) -> Markup:
    rows = [
        (_TROUBLES[trouble], *(outcomes[outcome] for outcome in _OUTCOMES)) for trouble, outcomes in recovery.items()
    ]
    told = [
        (
            Markup("{}: <strong>{}</strong>").format(_TROUBLES[trouble], _OUTCOMES[each["outcome"]]),
            each["reason"],
            f"{each['projectKey']}: {_cut(each['requests'])}",
        )
        for trouble, outcomes in recovery.items()
        for each in outcomes["episodes"]
    ]
    table = _table(("what went wrong", "recovered", "gave up", "made it worse", "not judged"), rows, "Recovery")
    if not told:
        return table
    episodes = _table(("what went wrong", "how it went on", "requests"), told, "What it did")
    return table + Markup("<h3>What it did</h3>\n{}").format(episodes)


def _exercised(exercised: Mapping[str, Any]) -> Markup:
    """Each kind with what was met, and folded what was not."""
    parts: list[Markup] = []
    for kind, each in exercised.items():
        rows = [(one["name"], one["times"]) for one in each["met"]]
        parts.append(Markup("<h3>{} <span>{} %</span></h3>\n").format(kind.capitalize(), each["percent"]))
        parts.append(_table(("name", "times"), rows, kind.capitalize()))
        if each["notMet"]:
            items = Markup("").join(Markup("<li>{}</li>\n").format(name) for name in each["notMet"])
            parts.append(
                Markup('<details><summary>{} not met</summary>\n<ul class="clauses">\n{}</ul>\n</details>\n').format(
                    len(each["notMet"]), items
                )
            )
    return Markup("").join(parts)
