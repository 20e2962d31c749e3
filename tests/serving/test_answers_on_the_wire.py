"""Answers as the worker sends them on one connection: nothing is missing, and nothing is sent twice."""

import contextlib
import http.client
import json

from tests.support.fixtures import TokenFor
from tests.support.gunicorn_server import StartGunicorn


def test_all_kinds_of_answers_on_one_connection(
    start_gunicorn: StartGunicorn, database_url: str, token_for: TokenFor, project: str
) -> None:
    server = start_gunicorn("wsgi:app", DATABASE_URL=database_url)
    bearer = {"Authorization": f"Bearer {token_for(f'manage_test:{project}')}"}
    body = json.dumps({"objectTypeProperty": {"arrayOfStringExample": ["x" * 60_000]}})
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=15)) as connection:

        def ask(
            method: str, path: str, body: str | None = None, **headers: str
        ) -> tuple[int, http.client.HTTPMessage, bytes]:
            connection.request(method, path, body, bearer | {name.replace("_", "-"): headers[name] for name in headers})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()

        for _ in range(2):
            status, head, text = ask(
                "POST", f"/{project}/resource", body, Content_Type="application/json", Expect="100-continue"
            )
            assert status == 201
            created = json.loads(text)
            path = f"/{project}/resource/{created['id']}"
            assert ask("HEAD", f"/{project}/resource")[0] == 200
            status, head, text = ask("HEAD", path)
            assert (status, "Content-Length" in head, text) == (200, False, b"")
            assert ask("GET", path, If_None_Match=head["ETag"])[::2] == (304, b"")
            assert json.loads(ask("GET", path)[2]) == created
            assert ask("GET", path, iF_nOnE_mAtCh=head["ETag"])[0] == 304
            assert [ask("GET", f"{path}{more}")[0] for more in ("0", "?nothing=1")] == [404, 400]
            assert ask("GET", path, Authorization="Bearer x")[0] == 401
            status, head, text = ask("GET", "/docs")
            assert (status, len(text)) == (200, int(head["Content-Length"]))
            assert ask("OPTIONS", path)[::2] == (200, b"")
            connected = connection.sock
            assert connected is not None
        ask("GET", path, Connection="close")
        assert connection.sock is None
