"""The common parts of all pages: the header, the policy, and the functions that answer pages and their files.

Files are served as they are in the source, without a build. No page loads anything from another host.
"""

from pathlib import Path

from flask import Response, current_app, request, send_from_directory
from markupsafe import Markup, escape

from app.extension import DocumentPage, Extension
from app.http.answers import html_answer

SITE = Path(__file__).parent / "site"

_LINKS = (("/docs/specification", "Specification"), ("/docs", "Resource API"))

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none';"
    " form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
"""The ``Content-Security-Policy`` of pages without one of their own: nothing from other hosts, nothing inline, and
where browsers know Trusted Types, scripts cannot make HTML of texts that is not sanitised."""


def header(root: str, current: str, extension: Extension) -> Markup:
    """The HTML of the header that every page has.

    :param root: the prefix of the service's paths.
    :param current: the path of the page with this header.
    :param extension: the extension whose page and document are linked, too.
    """
    document = extension.document
    pages = [
        *([] if extension.page is None else [extension.page]),
        *_LINKS,
        *([] if document is None else [(document_page(document), document.title)]),
    ]
    links = Markup("").join(
        Markup('<a href="{}{}"{}>{}</a>\n').format(
            root, path, Markup(' aria-current="page"') if path == current else "", title
        )
        for path, title in pages
    )
    return Markup(
        '<header class="site">\n<a class="skip" href="#main">Skip to the content</a>\n'
        '<a class="brand" href="{}/"{}>Sample Resource</a>\n<nav aria-label="Site">\n{}</nav>\n</header>'
    ).format(root, Markup(' aria-current="page"') if current == "/" else "", links)


def document_page(document: DocumentPage) -> str:
    """The path of the page that shows the OpenAPI document of an extension."""
    return f"/docs?document={document.name}"


def extension() -> Extension:
    """The extension of the service (:mod:`app.extension`), which may have a page and an OpenAPI document of its own. It
    is kept in Flask's dictionary ``extensions``."""
    return current_app.extensions["extension"]


def page(text: str, current: str, policy: str = POLICY) -> Response:
    """Answer a page, with the header and the prefix of paths in place of ``{header}`` and ``{root}`` in its text."""
    root = request.script_root
    head = header(root, current, extension())
    return html_answer(text.replace("{header}", head).replace("{root}", escape(root)), policy)


def asset(folder: Path, name: str) -> Response:
    """Answer a file that a page loads. Browsers may cache the file, but have to revalidate it before each use: the
    ``ETag`` changes with the file's modification time and size.

    :raises NotFound: if the folder has no such file.
    :raises RequestedRangeNotSatisfiable: for a ``Range`` outside of the file.
    """
    answer = send_from_directory(folder, name)  # with Cache-Control: no-cache
    answer.headers["X-Content-Type-Options"] = "nosniff"
    return answer
