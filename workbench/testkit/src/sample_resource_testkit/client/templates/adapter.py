"""An adapter: it lets `sample-resource-conformance client` use one client. Here that is urllib.

sample-resource-conformance client -- python adapter.py
"""

import json
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.parse import quote, urlencode
from urllib.request import Request, urlopen

from sample_resource_testkit.adapter import http_error, serve

# glue: which function of the client is which operation; here method and path
OPERATIONS = {
    "listResources": ("GET", ""),
    "checkResources": ("HEAD", ""),
    "createOrUpdateResource": ("POST", ""),
    "getResourceById": ("GET", "/{id}"),
    "deleteResourceById": ("DELETE", "/{id}"),
}

HELLO = {"client": "urllib", "version": "3", "operations": list(OPERATIONS)}


def make(opened):
    """One client. A client that gets its token itself does so with clientId, clientSecret, tokenUrl and scope."""
    return None if opened["token"] is None else opened


def use_client(opened, method, path, query, body):
    """The client. Put yours here: it gets the arguments in its own way, and returns its own objects."""
    url = f"{opened['url']}/{opened['projectKey']}/resource{path}" + (f"?{urlencode(query, True)}" if query else "")
    headers = {"Authorization": f"Bearer {opened['token']}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    request = Request(url, data, headers, method=method)  # noqa: S310 -- the kit gives the address
    with urlopen(request, timeout=opened["timeoutMs"] / 1000) as response:  # noqa: S310 -- as above
        return True if method == "HEAD" else json.load(response)


def call(client, _, operation, arguments, body):
    """The answer to a call: what the client returned, or what it raised."""
    method, path = OPERATIONS[operation]
    query = dict(arguments)
    if "{id}" in path:
        path = path.format(id=quote(query.pop("id"), safe=""))
    try:
        return {"result": use_client(client, method, path, query, body)}
    except HTTPError as error:
        if method == "HEAD" and error.code == 404:
            return {"result": False}
        return http_error(error.code, read(error), error.headers)
    except TimeoutError:
        return {"error": {"kind": "timeout"}}
    except ValueError:
        return {"error": {"kind": "decoding"}}
    except (OSError, HTTPException):
        return {"error": {"kind": "network"}}


def read(error):
    """The body of an error, which may be anything."""
    try:
        return json.load(error)
    except ValueError:
        return None


serve(HELLO, make, call)
