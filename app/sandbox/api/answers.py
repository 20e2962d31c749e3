"""What the sandbox's routes answer, as schemas of its document."""

from marshmallow import INCLUDE, Schema

from app.sandbox.analysis.exercised import KINDS
from app.sandbox.api.declaring import object_of, ref, said, several, sometimes

_NULLABLE = ("string", "null")
_TIME = {"format": "date-time"}
_HEADERS = {
    "type": "array",
    "description": "names and values in their order and spelling",
    "items": {"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": "string"}},
}


class ErrorSchema(Schema):
    """A refusal in the platform's envelope."""

    statusCode = said("integer")
    message = said()
    errors = said("array", "a fault in an expression has its parameter, line and column", items={"type": "object"})
    error = sometimes()
    error_description = sometimes()


class MadeProjectSchema(Schema):
    """What a tester needs of a project that was made."""

    projectKey = said()
    clientId = said()
    clientSecret = said(meaning="shown this once")
    scope = said()
    accessToken = said()
    tokenUrl = said(format="uri")
    expiresAt = said(**_TIME)


class IssuedTokenSchema(Schema):
    """A token of the project's client."""

    clientId = said()
    scope = said()
    accessToken = said()
    tokenUrl = said(format="uri")
    expiresIn = said("integer", "seconds, by the project's clock")


class ProjectSchema(Schema):
    """A project."""

    projectKey = said()
    createdAt = said(**_TIME)
    expiresAt = said(**_TIME)
    run = said(_NULLABLE, "the run of tests that it belongs to")
    resources = said("integer")
    requests = said("integer", "all of them, also those no longer kept")
    tokenTtlSeconds = said("integer")
    clock = said("object", "now, runs, and offsetSeconds if it runs")
    ids = said("object", "the seed, if there is one")
    snapshots = said("array", items=object_of("name", "createdAt"))


class ProjectListSchema(Schema):
    """All projects."""

    results = several("Project")


class ShownRuleSchema(Schema):
    """A rule as it was sent, and what it has done."""

    class Meta:
        unknown = INCLUDE

    matched = said("integer")
    acted = said("integer")


class RuleListSchema(Schema):
    """The rules in force."""

    rules = said("array", items=ref("ShownRule"))


class MessageBodySchema(Schema):
    """A body, without tokens and secrets."""

    size = said(("integer", "null"), "bytes of the whole body; null if it was not read whole")
    text = sometimes(meaning="the first 64 KiB")
    base64 = sometimes(meaning="the same, if they are no text")
    truncated = sometimes("boolean")


_BODY = {"oneOf": [ref("MessageBody"), {"type": "null"}]}


class FindingSchema(Schema):
    """What works and should not be so."""

    id = said()
    title = said()
    detail = said(meaning="what exactly was found")
    instead = said(meaning="what to do")
    clauses = said("array", "of the specification", items={"type": "string"})


class EntrySchema(Schema):
    """A request and its answer."""

    number = said("integer", minimum=1)
    startedAt = said(meaning="when it arrived; entries are numbered by it", **_TIME)
    endedAt = said(_NULLABLE, "when its answer had been sent, or its connection had ended", **_TIME)
    answeredMs = said(("number", "null"), "until its answer began to be sent")
    durationMs = said(("number", "null"), "until it ended")
    underWay = said("boolean", "it has not ended; what follows may still change")
    clientId = said(_NULLABLE)
    operationId = said(_NULLABLE)
    request = said(
        "object",
        required=["method", "target", "httpVersion", "headers", "body"],
        properties={
            "method": {"type": "string"},
            "target": {"type": "string", "description": "as it was sent"},
            "httpVersion": {"type": "string"},
            "headers": _HEADERS,
            "body": _BODY,
        },
    )
    outcome = said(meaning="the status, and what was done on order, in words: `200, body cut off by rule 0`")
    response = said(
        ("object", "null"),
        "as it went over the wire; null if nothing was answered",
        required=["status", "headers", "body"],
        properties={"status": {"type": "integer"}, "headers": _HEADERS, "body": _BODY},
    )
    token = said(("object", "null"), "sub, scopes, id and expiresAt of the token, if it was valid")
    rule = said(
        ("object", "null"),
        "what was done on order: name, number, all, did (in words), prefer, does, phase, carriedOut, replacedStatus,"
        " waitedMs",
    )
    sql = said("object", "statements and milliseconds")
    correlationId = said()
    connection = said(("object", "null"), "its number, which request on it this was, and its age in ageMs")
    clientGone = said("boolean", "the client had closed the connection before its answer, or while that waited")
    projectTime = said(_NULLABLE, "the project's time, if it is not the real one")
    repeats = said(("integer", "null"), "the number of the request that had failed and that this one repeats")
    findings = several("Finding", "what should not be so")


class EntryPageSchema(Schema):
    """A page of the journal, newest first."""

    limit = said("integer")
    offset = said("integer")
    count = said("integer")
    total = said("integer")
    results = several("Entry")


class ArchiveSchema(Schema):
    """An HTTP archive, version 1.2."""

    log = said("object")


class ExpectedSchema(Schema):
    """The requests that were expected."""

    requests = said("array", "their numbers", items={"type": "integer"})


class UnmetSchema(ErrorSchema):
    """What was found in place of what was expected."""

    requests = said("array", "the numbers of those that fit", items={"type": "integer"})
    told = said(meaning="all of it for a reader, in lines")
    nearest = said(
        "array",
        "up to three requests, and how they differ",
        items=object_of(
            "number", "method", "target", "status", "outcome", differs={"type": "array", "items": {"type": "string"}}
        ),
    )


class ExercisedSchema(Schema):
    """What of one kind was exercised."""

    percent = said("integer")
    met = said("array", items=object_of("name", "times"))
    notMet = said("array", items={"type": "string"})


class ReportSchema(Schema):
    """What a client has exercised, and how it dealt with what went wrong."""

    projectKey = sometimes(meaning="of a report on a project")
    run = sometimes(meaning="of a report on a run")
    projects = sometimes("integer", "that belong or belonged to the run")
    requests = said("object", "total: those that have ended")
    percent = said("integer", "of all that can be exercised")
    exercised = said("object", required=list(KINDS), properties={kind: ref("Exercised") for kind in KINDS})
    recovery = said("object", "by what went wrong: recovered, gaveUp, madeWorse, notJudged, and episodes")
    findings = said("array", items={"allOf": [ref("Finding"), object_of("count", "examples")]})


class RunSchema(Schema):
    """A run of tests."""

    run = said()
    createdAt = said(**_TIME)
    keptUntil = said(**_TIME)
    projects = said("integer")
    requests = said("integer")


class RunListSchema(Schema):
    """All runs."""

    results = several("Run")


REFERRED = (
    ProjectSchema, ShownRuleSchema, MessageBodySchema, FindingSchema, EntrySchema, ExercisedSchema,
    RunSchema,
)  # fmt: skip
"""The schemas that others refer to."""
