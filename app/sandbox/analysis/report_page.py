"""The report as a page that stands alone: one file without scripts, which can be saved and sent."""

import base64
import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from markupsafe import Markup

from app.sandbox.analysis.coverage import State

_STYLE = Markup("""
:root{color-scheme:light dark;--ink:#1c2530;--soft:#55606e;--line:#d9e0e8;--paper:#f6f8fa;--card:#fff;--good:#176b3a;
--bad:#b3261e;--some:#8a5300;--accent:#0b5cad}
@media (prefers-color-scheme:dark){:root{--ink:#e4eaf1;--soft:#a3afbd;--line:#313c49;--paper:#11171e;--card:#18212b;
--good:#6fd39a;--bad:#ff9d94;--some:#f3c06b;--accent:#7ab8f5}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,
"Noto Sans","DejaVu Sans",sans-serif}
main{max-width:960px;margin:0 auto;padding:32px 20px 64px}
h1{margin:0;font-size:26px;letter-spacing:-.01em}
h2{margin:40px 0 12px;font-size:18px}
p{margin:8px 0}
.soft{color:var(--soft)}
code{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;overflow-wrap:anywhere}
.sum{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;margin:24px 0 0;padding:0}
.sum div{padding:16px;border:1px solid var(--line);border-radius:10px;background:var(--card)}
.sum dt{color:var(--soft);font-size:13px}
.sum dd{margin:4px 0 0;font-size:26px;font-weight:600;letter-spacing:-.02em}
.wide{overflow-x:auto;border:1px solid var(--line);border-radius:10px;background:var(--card)}
table{width:100%;border-collapse:collapse}
th,td{padding:9px 14px;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}
tbody tr:last-child>*{border-bottom:0}
thead th{color:var(--soft);font-size:13px;font-weight:600}
tbody th{font-weight:500}
.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.good{color:var(--good)}.bad{color:var(--bad)}.some{color:var(--some)}
a{color:var(--accent)}
@media print{body{background:#fff}.wide{border:0}}
""")

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

_STATES = {
    State.EXERCISED: Markup('<span class="good">exercised</span>'),
    State.NOT_EXERCISED: Markup('<span class="some">not exercised</span>'),
    State.NOT_OBSERVABLE: Markup('<span class="soft">not observable</span>'),
}

_BEGIN = Markup(
    '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    "<title>{title}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n"
)
_END = Markup("</main>\n</body>\n</html>\n")


def as_page(made: Mapping[str, Any]) -> str:
    """A report as HTML."""
    title = f"Report on {made.get('run') or made['projectKey']}"
    parts = [
        _BEGIN.format(title=title, style=_STYLE),
        Markup("<h1>{}</h1>\n").format(title),
        _about(made["requests"]),
        _summary(made),
        _findings(made["findings"]),
        _recovery(made["recovery"]),
        _section(
            "Specification by profile",
            ("profile", "exercised", "of", "percent"),
            [
                (each["profile"], each["exercised"], each["observable"], each["percent"])
                for each in made["specification"]["profiles"]
            ],
        ),
        _section("Notations", ("notation", "requests"), _rows_of(made["notations"], "title")),
        _section("Operations", ("operation", "requests"), _rows_of(made["operations"], "operationId", "(unknown URL)")),
        _section("Statuses", ("status", "requests"), _rows_of(made["statuses"], "status", "no answer")),
        _clauses(made["specification"]["clauses"]),
        _END,
    ]
    return "".join(parts)


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
    return Markup('<dl class="sum">\n{}</dl>\n').format(cells)


def _section(title: str, heads: tuple[str, ...], rows: Iterable[tuple[Any, ...]]) -> Markup:
    """A table; the first cell of a row names it, and numbers stand on the right."""
    made = list(rows)
    if not made:
        return Markup('<h2>{}</h2>\n<p class="soft">None.</p>\n').format(title)
    columns = [isinstance(cell, int) for cell in made[0]]
    head = Markup("").join(
        Markup('<th scope="col"{}>{}</th>').format(_right(number), name)
        for name, number in zip(heads, columns, strict=True)
    )
    body = Markup("").join(
        Markup('<tr><th scope="row">{}</th>{}</tr>\n').format(
            row[0],
            Markup("").join(Markup("<td{}>{}</td>").format(_right(isinstance(cell, int)), cell) for cell in row[1:]),
        )
        for row in made
    )
    return Markup(
        '<h2>{0}</h2>\n<div class="wide" tabindex="0" role="group" aria-label="{0}"><table>\n'
        "<thead><tr>{1}</tr></thead>\n<tbody>\n{2}</tbody>\n</table></div>\n"
    ).format(title, head, body)


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
            Markup("<strong>{}</strong><br>{}<br><span class=soft>{}</span>").format(
                each["title"], each["detail"], _with_code(each["instead"])
            ),
            _where(each),
            each["count"],
        )
        for each in findings
    ]
    return _section("Findings", ("what, and what to do instead", "in requests", "times"), rows)


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
    table = _section("Recovery", ("what went wrong", "recovered", "gave up", "made it worse"), rows)
    if not told:
        return table
    return table + _section("What it did", ("what went wrong", "how it went on", "requests"), told)


_OUTCOMES = {
    "recovered": Markup('<span class="good">recovered</span>'),
    "gaveUp": Markup('<span class="some">gave up</span>'),
    "madeWorse": Markup('<span class="bad">made it worse</span>'),
}


def _clauses(clauses: Iterable[Mapping[str, Any]]) -> Markup:
    rows = [
        (
            Markup("{} <span class=soft>{} {}</span><br>{}").format(
                each["number"], each["level"], each["profile"], _with_code(each["text"])
            ),
            _STATES[State(each["state"])],
            _cut(each["requests"]),
        )
        for each in clauses
    ]
    return _section("Specification", ("clause", "state", "requests"), rows)
