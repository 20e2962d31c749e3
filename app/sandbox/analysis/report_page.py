"""The report as a page that stands alone: one file without scripts, which can be saved and sent."""

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from markupsafe import Markup

from app.pages.frame import header, style_of
from app.sandbox.analysis.coverage import State, clauses

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


def as_page(made: Mapping[str, Any], base_url: str | None = None) -> str:
    """A report as HTML.

    :param base_url: of the service that made it, to which its header and the numbers of clauses link.
    """
    title = f"Report on {made.get('run') or made['projectKey']}"
    sections = {
        "Findings": _findings(made["findings"]),
        "Recovery": _recovery(made["recovery"]),
        "Specification": _profiles(made["specification"]["profiles"])
        + _clauses(made["specification"]["clauses"], base_url),
        "Notations": _table(("notation", "requests"), _rows_of(made["notations"], "title"), "Notations"),
        "Operations": _table(
            ("operation", "requests"), _rows_of(made["operations"], "operationId", "(unknown URL)"), "Operations"
        ),
        "Statuses": _table(("status", "requests"), _rows_of(made["statuses"], "status", "no answer"), "Statuses"),
    }
    head = "" if base_url is None else header(base_url, None, has_sandbox=True) + "\n"
    parts = [
        _BEGIN.format(title=title, style=_STYLE, header=head),
        Markup("<h1>{}</h1>\n").format(title),
        _about(made["requests"]),
        _summary(made),
        _contents(sections),
        *(Markup('<h2 id="{}">{}</h2>\n{}').format(name.lower(), name, section) for name, section in sections.items()),
        _END,
    ]
    return "".join(parts)


def _contents(names: Iterable[str]) -> Markup:
    links = Markup("\n").join(Markup('<a href="#{}">{}</a>').format(name.lower(), name) for name in names)
    return Markup('<nav class="contents" aria-label="Contents">\n{}\n</nav>\n').format(links)


def _about(requests: Mapping[str, int]) -> Markup:
    if requests["total"] == requests["kept"]:
        return Markup('<p class="soft">From all {} requests.</p>\n').format(requests["total"])
    return Markup('<p class="soft">From the last {} of {} requests: older ones are not kept.</p>\n').format(
        requests["kept"], requests["total"]
    )


def _summary(made: Mapping[str, Any]) -> Markup:
    specification, recovery = made["specification"], made["recovery"]
    worse = sum(outcomes["madeWorse"] for outcomes in recovery.values())
    recovered = sum(outcomes["recovered"] for outcomes in recovery.values())
    failed = recovered + worse + sum(outcomes["gaveUp"] for outcomes in recovery.values())
    boxes = (
        ("Specification exercised", f"{specification['percent']} %"),
        ("Clauses", f"{specification['exercised']} of {specification['observable']}"),
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


def _rows_of(counted: Iterable[Mapping[str, Any]], name: str, nothing: str = "") -> Iterable[tuple[Any, ...]]:
    return [(nothing if each[name] == "none" else each[name], each["count"]) for each in counted]


def _with_code(text: str) -> Markup:
    """Text of Markdown in which only code is marked."""
    parts = [
        Markup("<code>{}</code>").format(part) if at % 2 else Markup("{}").format(part)
        for at, part in enumerate(text.split("`"))
    ]
    return Markup("").join(parts)


def _numbers(numbers: Iterable[int]) -> str:
    return ", ".join(str(number) for number in numbers)


def _findings(findings: Iterable[Mapping[str, Any]]) -> Markup:
    rows = [
        (
            Markup("<strong>{}</strong><br>{}<br><span class=soft>{}{}</span>").format(
                each["title"], each["detail"], _with_code(each["instead"]), _links_to(each["clauses"])
            ),
            _where(each),
            each["count"],
        )
        for each in findings
    ]
    return _table(("what, and what to do instead", "in requests", "times"), rows, "Findings")


def _links_to(numbers: Sequence[str]) -> Markup:
    """Links to clauses, which stand on the page too."""
    if not numbers:
        return Markup("")
    links = Markup(", ").join(Markup('<a href="#{0}">{0}</a>').format(number) for number in numbers)
    return Markup(" Specification: {}.").format(links)


def _where(finding: Mapping[str, Any]) -> str:
    """The requests of a finding; in the report on a run with their projects."""
    named = [f"{each['projectKey']}: {each['request']}" for each in finding.get("examples", ())]
    return ", ".join(named[:5]) + (", ..." if len(named) > 5 else "") if named else _cut(finding["requests"])


def _cut(numbers: list[int]) -> str:
    return _numbers(numbers[:5]) + (", ..." if len(numbers) > 5 else "")


def _recovery(recovery: Mapping[str, Any]) -> Markup:
    rows = [
        (_TROUBLES[trouble], outcomes["recovered"], outcomes["gaveUp"], outcomes["madeWorse"])
        for trouble, outcomes in recovery.items()
    ]
    told = [
        (
            Markup("{}: <strong>{}</strong>").format(_TROUBLES[trouble], _OUTCOMES[each["outcome"]]),
            each["reason"],
            f"{each['projectKey']}: {_cut(each['requests'])}" if "projectKey" in each else _cut(each["requests"]),
        )
        for trouble, outcomes in recovery.items()
        for each in outcomes["episodes"]
    ]
    table = _table(("what went wrong", "recovered", "gave up", "made it worse"), rows, "Recovery")
    if not told:
        return table
    episodes = _table(("what went wrong", "how it went on", "requests"), told, "What it did")
    return table + Markup("<h3>What it did</h3>\n{}").format(episodes)


_OUTCOMES = {
    "recovered": Markup('<span class="good">recovered</span>'),
    "gaveUp": Markup('<span class="some">gave up</span>'),
    "madeWorse": Markup('<span class="bad">made it worse</span>'),
}


def _profiles(profiles: Iterable[Mapping[str, Any]]) -> Markup:
    rows = [(each["profile"], each["exercised"], each["observable"], each["percent"]) for each in profiles]
    return _table(("profile", "exercised", "of", "percent"), rows, "Specification by profile")


_FOLDS = {
    State.EXERCISED: "exercised",
    State.NOT_EXERCISED: "not exercised",
    State.NOT_OBSERVABLE: "not observable: no journal can show it",
}


def _clauses(listed: Iterable[Mapping[str, Any]], base_url: str | None) -> Markup:
    """The clauses by theme and state, each state folded: a browser opens the fold that a link leads into."""
    headings = {clause.number: clause.heading for clause in clauses()}
    page = "" if base_url is None else f"{base_url}/docs/specification"
    themes = [
        _theme(theme, list(of_it), headings, page) for theme, of_it in groupby(listed, lambda each: _theme_of(each))
    ]
    return Markup("").join(themes)


def _theme_of(clause: Mapping[str, Any]) -> str:
    return clause["number"].rpartition("-")[0]


def _theme(theme: str, of_it: Sequence[Mapping[str, Any]], headings: Mapping[str, str], page: str) -> Markup:
    counted = [each for each in of_it if each["state"] != State.NOT_OBSERVABLE]
    exercised = sum(each["state"] == State.EXERCISED for each in counted)
    folds = Markup("").join(
        _fold(title, [each for each in of_it if each["state"] == state], page) for state, title in _FOLDS.items()
    )
    heading = headings.get(of_it[0]["number"], "")
    said = f"{theme}: {exercised} of {len(counted)}" if counted else theme
    return Markup("<h3>{} <span>{}</span></h3>\n{}").format(heading, said, folds)


def _fold(title: str, of_it: Sequence[Mapping[str, Any]], page: str) -> Markup:
    if not of_it:
        return Markup("")
    items = Markup("").join(
        Markup(
            '<li id="{0}"><a href="{1}#{0}">{0}</a> <div>{2} <span class=soft>{3}, {4}{5}</span></div></li>\n'
        ).format(
            each["number"],
            page,
            _with_code(each["text"]),
            each["level"],
            each["profile"],
            f"; requests {_cut(each['requests'])}" if each["requests"] else "",
        )
        for each in of_it
    )
    return Markup('<details><summary>{} {}</summary>\n<ul class="clauses">\n{}</ul>\n</details>\n').format(
        len(of_it), title, items
    )
