"""One call of the commercetools SDK for Python while the sandbox makes it fail; ``faults.py`` runs it."""

import os

from commercetools.base_client import BaseClient

os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"  # otherwise oauthlib refuses to send credentials over http

URL, PROJECT = os.environ["BASE_URL"], os.environ["PROJECT"]

client = BaseClient(
    client_id=os.environ["CLIENT_ID"],
    client_secret=os.environ["CLIENT_SECRET"],
    scope=[f"manage_test:{PROJECT}"],
    url=URL,
    token_url=URL,
)

for _ in range(int(os.environ.get("CALLS", "1"))):
    if os.environ.get("WRITES"):
        answer = client._post(
            f"/{PROJECT}/resource", params={}, json={"key": "faulty", "objectTypeProperty": {}}, options={}
        )
    else:
        answer = client._get(f"/{PROJECT}/resource", params={"limit": 0})
    assert answer.ok, answer.status_code
    assert {"total", "version"} & answer.json().keys()
