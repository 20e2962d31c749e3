"""One call of the client of openapi-python-client while the sandbox makes it fail; ``faults.py`` runs it."""

import os

from sample_resource_client import AuthenticatedClient
from sample_resource_client.api.resource import create_or_update_resource, list_resources
from sample_resource_client.models import FlatResourcePage, ObjectType, Resource, ResourceDraft

PROJECT = os.environ["PROJECT"]
client = AuthenticatedClient(os.environ["BASE_URL"], token=os.environ["TOKEN"])

for _ in range(int(os.environ.get("CALLS", "1"))):
    if os.environ.get("WRITES"):
        draft = ResourceDraft(ObjectType(), key="faulty")
        assert isinstance(create_or_update_resource.sync(PROJECT, client=client, body=draft), Resource)
    else:
        assert isinstance(list_resources.sync(PROJECT, client=client, limit=0), FlatResourcePage)
