"""The schemas of the sandbox's answers, for its OpenAPI document.

:func:`.declaring.answer` makes each schema from a text with its simple members, and from fields for the others.
"""

from sample_resource_sandbox.api.declaring import answer, object_of, ref, said, several

_TEXTS = {"type": "array", "items": {"type": "string"}}
_HEADERS = {
    "type": "array",
    "description": "names and values in their order and spelling",
    "items": {"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": "string"}},
}
_BODY = {"oneOf": [ref("MessageBody"), {"type": "null"}]}
_REQUEST = {
    "method": {"type": "string"},
    "target": {"type": "string", "description": "as it was sent"},
    "httpVersion": {"type": "string"},
    "headers": _HEADERS,
    "body": _BODY,
}
_RESPONSE = {"status": {"type": "integer"}, "headers": _HEADERS, "body": _BODY}
_FAULTS = said("array", "a fault in an expression has its parameter, line and column", items={"type": "object"})

ErrorSchema = answer("Error", "statusCode:integer message error? error_description?", errors=_FAULTS)
MadeProjectSchema = answer(
    "MadeProject", "projectKey clientId scope accessToken tokenUrl:uri expiresAt:date-time",
    clientSecret=said(meaning="shown this once"),
)  # fmt: skip
IssuedTokenSchema = answer(
    "IssuedToken", "clientId scope accessToken tokenUrl:uri",
    expiresIn=said("integer", "seconds, by the project's clock"),
)  # fmt: skip
ProjectSchema = answer(
    "Project", "projectKey createdAt:date-time expiresAt:date-time resources:integer",
    allow=said("array", "the ids of findings that are expected", items={"type": "string"}),
    run=said(("string", "null"), "the run of tests that it belongs to"),
    requests=said("integer", "all of them, also those no longer kept"),
    clock=said("object", "now, runs, and offsetSeconds if it runs"),
    ids=said("object", "the seed, if there is one"),
)  # fmt: skip
ProjectListSchema = answer("ProjectList", results=several("Project"))
ShownRuleSchema = answer("ShownRule", "matched:integer acted:integer", is_open=True)
RuleListSchema = answer("RuleList", rules=several("ShownRule"))
MessageBodySchema = answer(
    "MessageBody", "truncated:boolean?",
    size=said(("integer", "null"), "bytes of the whole body; null if it was not read whole"),
    text=said(meaning="the first 64 KiB", is_required=False),
    base64=said(meaning="the same, if they are no text", is_required=False),
)  # fmt: skip
FindingSchema = answer(
    "Finding", "id title",
    detail=said(meaning="what exactly was found"), instead=said(meaning="what to do"),
    clauses=said("array", "of the specification", items={"type": "string"}),
    told=said(meaning="all of it as a text: in a report also the requests, in lines"),
)  # fmt: skip
EntrySchema = answer(
    "Entry",
    number=said("integer", minimum=1),
    startedAt=said(meaning="when it arrived; entries are numbered by it", format="date-time"),
    endedAt=said(("string", "null"), "when its answer had been sent, or its connection had ended", format="date-time"),
    answeredMs=said(("number", "null"), "until its answer began to be sent"),
    durationMs=said(("number", "null"), "until it ended"),
    underWay=said("boolean", "it has not ended; what follows may still change"),
    clientId=said(("string", "null")), operationId=said(("string", "null")),
    request=said("object", required=list(_REQUEST), properties=_REQUEST),
    outcome=said(meaning="the status, and what a rule did, in words: `200, body cut off by rule 0`"),
    response=said(
        ("object", "null"), "as it went over the wire; null if nothing was answered", required=list(_RESPONSE),
        properties=_RESPONSE,
    ),
    token=said(("object", "null"), "sub, scopes, id and expiresAt of the token, if it was valid"),
    rule=said(
        ("object", "null"), "what a rule did: name, number, all, did (in words), does, phase,"
        " carriedOut, replacedStatus, waitedMs",
    ),
    correlationId=said(),
    connection=said(("object", "null"), "its number (the client's port), and which request on it this was"),
    clientGone=said("boolean", "the client had closed the connection before its answer, or while that waited"),
    projectTime=said(("string", "null"), "the project's time, if it is not the real one"),
    repeats=said(("integer", "null"), "the number of the request that had failed and that this one repeats"),
    findings=several("Finding", "what should not be so"),
)  # fmt: skip
EntryPageSchema = answer(
    "EntryPage", "limit:integer offset:integer count:integer total:integer", results=several("Entry")
)
ArchiveSchema = answer("Archive", "log:object")
ExpectedSchema = answer(
    "Expected",  requests=said("array", "their numbers", items={"type": "integer"})
)  # fmt: skip
UnmetSchema = answer(
    "Unmet", "statusCode:integer message error? error_description?", errors=_FAULTS,
    requests=said("array", "the numbers of those that fit", items={"type": "integer"}),
    told=said(meaning="all of it for a reader, in lines"),
    nearest=said(
        "array", "up to three requests, and how they differ",
        items=object_of("number", "method", "target", "status", "outcome", differs=_TEXTS),
    ),
)  # fmt: skip
ReportSchema = answer(
    "Report", "projectKey",
    requests=said("integer", "those that have ended"),
    incomplete=said("boolean", "the service was started again meanwhile; earlier requests are not known any more"),
    operations=said("array", "how often the service has carried out each", items=object_of("name", "times")),
    recovered=said("object", "how often the client has recovered, by what went wrong"),
    stories=said(
        "array", "what went wrong, and the outcome: madeWorse, gaveUp, notJudged or recovered",
        items=object_of("trouble", "outcome", "times", "examples"),
    ),
    findings=said("array", items={"allOf": [ref("Finding"), object_of("count", "examples")]}),
    told=said(meaning="all of it for a reader, in lines"),
)  # fmt: skip

REFERRED = (ProjectSchema, ShownRuleSchema, MessageBodySchema, FindingSchema, EntrySchema)
"""The schemas to which other schemas refer."""
