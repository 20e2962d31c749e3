"""The clauses on the samples, identity, errors and HTTP (2.4, 2.5, 4.9, 4.13, A, E and H)."""

from collections.abc import Mapping

from app.sandbox.clauses.conditions import (
    Condition,
    When,
    any_request,
    code,
    faulty,
    has,
    head,
    method,
    ok,
    op,
    par,
    path,
    refused,
    said,
    status,
    target,
    text,
    told,
)

ALL = op("postWithAllOptions")
LINKS = op("postDescriptionWithLinks")
SAMPLES = ALL | LINKS
TOKEN = op("getToken")
READS = op(
    "listResources", "checkResources", "listResourcesSorted", "getResourceById", "getResourceByKey", "searchResources"
)
COLLECTION = op("createOrUpdateResource", "createOrOverwriteResource", "overwriteResource")
WRITES = COLLECTION | op("updateResourceById", "deleteResourceById")
SINGLE = op("getResourceById", "getResourceByKey")
HAS_TOKEN = When(lambda entry: entry.data["token"] is not None)
SCOPED = HAS_TOKEN & ok
IF_MATCH = head("if-match")
HEADER_FAULT = faulty & (head("if-match", r"^[^\"*W]") | head("if-none-match", r"^[^\"*W]"))
AGAIN = When(lambda entry: (entry.data["connection"] or {"request": 1})["request"] > 1)

CONDITIONS: Mapping[str, Condition] = {
    # The samples
    "2.4-1": SAMPLES & text(r'"(?:id|version|key|custom|\w+th[Pp]rop\w+|twelthProperty)"') & ok,
    "2.4-2": SAMPLES & text(r'"(?:createdAt|lastModifiedAt|createdBy|lastModifiedBy)"') & ok,
    "2.4-3": SAMPLES & text(r'"(?:custom|\w+Prope\w+)":') & ok,
    "2.4-4": SAMPLES & has() & ok,
    "2.4-5": SAMPLES & code("InvalidJsonInput") & said(r"[Uu]nknown|exist"),
    "2.4-6": SAMPLES & (has("createdAt") | has("lastModifiedAt")),
    "2.5-1": LINKS & status(202),
    "2.5-2": LINKS & status(202),
    "4.9-1": ALL & ok,
    "4.9-2": ALL & ok,
    "4.9-3": ALL & ok & (par("queryParameterOne") | text(r":\s*-?[0-9]")),
    "4.9-4": ALL & ok & has("createdAt", "lastModifiedAt"),
    "4.9-5": ALL & ok & text(r"^\s*\{\s*\}\s*$"),
    "4.9-6": ALL & ok,
    "4.9-7": ALL & ok & path(r"uri-parameter-one(?:=|%3[Dd]).*%"),
    "4.9-8": ALL & path(r"uri-parameter-one=/"),
    "4.9-9": ALL & ok,
    "4.9-10": ALL & ok & head("accept"),
    "4.9-11": ALL & SCOPED,
    "4.9-12": ALL & faulty & path(r"%(?:00|[Ff][Ff])"),
    "4.13-1": LINKS & ok,
    "4.13-2": LINKS & status(200),
    "4.13-3": LINKS & head("prefer", "code="),
    "4.13-4": LINKS & ok,
    "4.13-5": LINKS & ok & head("accept"),
    "4.13-6": LINKS & SCOPED,
    # Identity
    "A-1": SCOPED,
    "A-2": any_request & status(401) & ~head("authorization"),
    "A-3": any_request & status(401) & head("authorization"),
    "A-4": any_request & status(401),
    "A-5": any_request & head("authorization", "^(?-i:bearer|BEARER|Basic)"),
    "A-6": code("insufficient_scope"),
    "A-7": status(403),
    "A-8": code("insufficient_scope"),
    "A-9": READS & SCOPED,
    "A-10": (
        op("createOrUpdateResource", "createOrOverwriteResource", "overwriteResource", "deleteResourceById")
        & SCOPED
    ),
    "A-11": (SAMPLES | op("updateResourceById")) & SCOPED,
    "A-12": op("searchProductProjections") & SCOPED,
    "A-13": code("insufficient_scope"),
    "A-14": WRITES & status(401, 403),
    "A-15": TOKEN & ok & head("authorization", "^basic"),
    "A-16": TOKEN & ok,
    "A-17": TOKEN & ok,
    "A-18": TOKEN & ok,
    "A-19": TOKEN & ok & text(r"scope=[^&]*[: ]"),
    "A-20": TOKEN & ok & text(r"(?:^|&)(?!grant_type|scope|client_id|client_secret)[a-z_]+="),
    "A-21": TOKEN & ok & text(r"client_secret="),
    "A-22": TOKEN & target(r"\?.*(?:grant_type|scope|client_id|client_secret)="),
    "A-23": TOKEN & status(401),
    "A-24": TOKEN & code("invalid_scope") & said("Invalid scope"),
    "A-25": TOKEN & code("invalid_scope") & said("Permissions exceeded"),
    "A-26": TOKEN & code("unsupported_grant_type"),
    "A-27": TOKEN & code("invalid_request") & said("grant_type"),
    # Errors
    "E-1": refused & ~method("HEAD"),
    "E-2": status(401, 403),
    "E-3": status(404, 405, 413, 414),
    "E-4": faulty,
    "E-5": code("InvalidInput") & said("Malformed parameter"),
    "E-6": code("InvalidJsonInput"),
    "E-7": code("InvalidJsonInput") & said("detailedErrorMessage"),
    "E-8": code("InvalidJsonInput") & said("expected|Missing required value"),
    "E-9": code("InvalidField"),
    "E-10": code("InvalidField"),
    "E-11": code("InvalidField"),
    "E-12": code("DuplicateField"),
    "E-13": faulty & said(r'"errors":\[\{[^\]]*\},\{'),
    "E-14": faulty & said(r'"errors":\[(?:\{[^{}]*\},?){50}'),
    "E-15": status(404) & said("URI not found"),
    "E-16": status(405),
    "E-17": status(401, 403) & WRITES,
    "E-18": status(413, 415),
    "E-19": faulty & op("updateResourceById"),
    "E-20": status(404) & (IF_MATCH | has("version")),
    "E-21": status(405),
    "E-22": status(413),
    "E-23": status(413),
    "E-26": status(503),
    "E-27": any_request,
    "E-28": refused,
    "E-29": any_request & head("x-correlation-id"),
    "E-30": any_request,
    "E-31": code("InvalidJsonInput") & said("without a fraction"),
    "E-32": status(401, 403),
    "E-33": status(405, 413),
    "E-34": HEADER_FAULT,
    "E-35": faulty,
    # HTTP
    "H-1": (SINGLE | WRITES) & ok & told("etag"),
    "H-2": SINGLE & head("if-none-match") & status(200, 304),
    "H-3": SINGLE & IF_MATCH & status(412),
    "H-4": WRITES & IF_MATCH & ok,
    "H-5": WRITES & IF_MATCH & status(412),
    "H-6": op("overwriteResource") & IF_MATCH & ~has("version"),
    "H-7": WRITES & IF_MATCH & (has("version") | par("version")),
    "H-8": op("createOrUpdateResource", "createOrOverwriteResource") & IF_MATCH & status(412),
    "H-9": WRITES & IF_MATCH & status(404),
    "H-10": op("createOrOverwriteResource") & head("if-none-match", r"\*"),
    "H-11": head("if-match", "^W/") | head("if-none-match", "W/"),
    "H-12": head("if-match", r'",\s*"') | head("if-none-match", r'",\s*(?:W/)?"'),
    "H-13": HEADER_FAULT,
    "H-14": method("HEAD") & ~op("checkResources"),
    "H-15": method("OPTIONS"),
    "H-16": status(405) & method("PUT", "PATCH", "DELETE", "TRACE"),
    "H-17": COLLECTION & status(415),
    "H-18": any_request & ok & head("accept") & ~op("postWithAllOptions"),
    "H-19": head("transfer-encoding", "chunked"),
    "H-20": AGAIN,
    "H-21": SAMPLES & ok & told("vary"),
    "H-22": any_request,
    "H-23": any_request & head("accept"),
}  # fmt: skip

_ELSEWHERE = "the endpoint belongs to no project, so no journal has its requests"

NOT_OBSERVABLE: Mapping[str, str] = {
    "A-29": "tokens are not kept in the journal",
    "A-30": "tokens are not kept in the journal",
    **{f"A-{number}": _ELSEWHERE for number in range(31, 41)},
    "A-41": "whose request it is cannot be told, since its parameters are not read",
    "A-28": "whose request it is cannot be told, since its parameters are not read",
    "E-24": "the server refuses the target before it is read, so the request belongs to no project",
    "E-25": "the server refuses the headers before they are read, so the request belongs to no project",
}
