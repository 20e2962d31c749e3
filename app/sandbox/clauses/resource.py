"""The clauses on resources: addressing, values, versions, reads and writes (2.1 to 4.11, and 9)."""

from collections.abc import Mapping

from app.query.object_fields import OBJECT_FIELDS, TEXT
from app.sandbox.clauses.conditions import (
    Condition,
    Then,
    action,
    any_request,
    code,
    exactly,
    faulty,
    has,
    head,
    method,
    ok,
    op,
    par,
    path,
    said,
    same_call,
    same_path,
    same_project,
    status,
    target,
    text,
)

LIST = op("listResources")
CHECK = op("checkResources")
SORTED = op("listResourcesSorted")
BY_ID = op("getResourceById")
BY_KEY = op("getResourceByKey")
POST = op("createOrUpdateResource")
PUT = op("createOrOverwriteResource")
PATCH = op("overwriteResource")
UPDATE = op("updateResourceById")
DELETE = op("deleteResourceById")
COLLECTION = POST | PUT | PATCH
WRITE = COLLECTION | UPDATE | DELETE
READ = BY_ID | BY_KEY
PAGES = LIST | SORTED
SEARCH = op("searchResources", "searchProductProjections")
RESOURCE = READ | WRITE
OBJECT = COLLECTION & has("objectTypeProperty")
NAMELESS = ~(has("id") | has("key"))
STAGED = exactly("staged", "true", "True", "TRUE")
NUMBERS = "|".join(row.name for row in OBJECT_FIELDS if row.type not in (None, TEXT))
VERSIONED = has("version") | par("version")

CONDITIONS: Mapping[str, Condition] = {
    # Addressing
    "2.1-1": RESOURCE & ok,
    "2.1-3": LIST & ok & said(r'"total":0,'),
    "2.1-6": path(r"%[0-9A-Fa-f]{2}"),
    "2.1-7": path(r"/key%3[Dd]"),
    "2.1-8": path(r"%2[Ff]"),
    "2.1-9": BY_KEY | SORTED | SEARCH | op("postDescriptionWithLinks"),
    "2.1-10": status(405) & path(r"/resource/(key=|searchApi|sorted-|description-|product-)"),
    "2.1-11": status(404) & path(r"//|/resource/$"),
    "2.1-12": status(404) & said(r"URI not found"),
    # All endpoints
    "4-1": any_request & ok & said(r"^[{\[]"),
    "4-2": COLLECTION & head("content-type", "^application/json"),
    "4-3": method("GET", "DELETE") & head("content-type", "^application/json"),
    "4-4": faulty & said(r"Unknown parameter"),
    "4-5": faulty & said(r"only once"),
    "4-6": (
        faulty & said(r"value is empty") | exactly("arrayOfString", "")
        | exactly("arrayOfStringWithDescription", "")
    ),
    "4-7": (
        exactly("staged", "true", "false") | exactly("withTotal", "true", "false")
        | exactly("fuzzy", "true", "false")
    ),
    "4-8": par("staged|withTotal|fuzzy", "^(?-i:T|F|TRUE|FALSE)") | faulty & said(r"not a boolean"),
    "4-9": par("limit|offset|fuzzyLevel|floatParameter|integerParameter|withMarkdownDescription", r"^-?[0-9]") & ok,
    "4-10": faulty & said(r"is not a number"),
    "4-11": faulty & said(r"has a fraction, a whole number"),
    "4-12": target(r"\?.*(\+|%20|%[C-Fc-f][0-9A-Fa-f]%)"),
    "4-13": target(r"\?.*%(00|[Ff][Ff])"),
    "4-14": code("InvalidJsonInput") & ~text(r"^\s*\{.*\}\s*$"),
    "4-15": (
        code("InvalidJsonInput") & text(r"NaN|Infinity")
        | code("InvalidJsonInput") & said(r"twice|duplicate|UTF-8")
    ),
    "4-16": code("InvalidJsonInput") & said(r"[Uu]nknown (field|name)|does not exist"),
    "4-17": code("InvalidJsonInput") & text(r":\s*null"),
    "4-18": text(r":\s*null") & ok,
    # The resource
    "2.2-1": RESOURCE & ok,
    "2.2-2": RESOURCE & ok,
    "2.2-3": RESOURCE & ok,
    "2.2-4": RESOURCE & ok,
    "2.2-5": RESOURCE & ok,
    "2.2-6": WRITE & ok,
    "2.2-7": RESOURCE & ok & said(r'"key":'),
    "2.2-8": READ & ok & said(r'"someProperty":'),
    "2.2-9": RESOURCE & ok,
    "2.2-10": RESOURCE & ok,
    "2.2-11": code("DuplicateField"),
    "2.2-12": COLLECTION & has("key") & (ok | code("InvalidField")),
    "2.2-13": Then(WRITE & ok, READ & ok, same_project),
    # ObjectType
    "2.3-1": OBJECT & ok,
    "2.3-2": OBJECT & text(r'"objectTypeProperty":\s*\{\s*\}') & ok,
    "2.3-3": OBJECT & text(r"\[[^\[\]]*,[^\[\]]*\]") & ok,
    "2.3-4": OBJECT & text(r":\s*\[\s*\]") & ok,
    "2.3-5": OBJECT & text(rf'"(?:{NUMBERS})":\s*\[\s*-?[0-9]+\s*[,\]]') & ok,
    "2.3-6": OBJECT & text(rf'"(?:{NUMBERS})":\s*\[[^\]]*[0-9]\.[0-9]') & ok,
    "2.3-7": OBJECT & text(r'"arrayOf(?:Unique)?IntExample":\s*\[[^\]]*(?:\.0|[0-9][eE])') & ok,
    "2.3-8": OBJECT & code("InvalidJsonInput") & text(r'"arrayOf(?:Unique)?IntExample":\s*\[[^\]]*[0-9]\.[0-9]*[1-9]'),
    "2.3-9": OBJECT & code("InvalidField") & text(r"[0-9]{19}"),
    "2.3-10": OBJECT & text(r'"integerExampleInt32":\s*-?[0-9]'),
    "2.3-11": OBJECT & ok & text(r'"arrayOf(?:Float|Number|Two)\w*":\s*\[[^\]]*[0-9]{19}'),
    "2.3-12": OBJECT & code("InvalidField") & text(r"[eE]\+?[0-9]{3}"),
    "2.3-13": OBJECT & code("InvalidJsonInput") & said(r"JSON (Number|String|Array|object) "),
    "2.3-14": OBJECT & has("objectTypeProperty.arrayOfUniqueIntExample"),
    "2.3-15": OBJECT & has("objectTypeProperty.arrayOfTwonumbersExample"),
    "2.3-16": OBJECT & text(r'"arrayOfStringExample":\s*\[[^\]]*"') & ok,
    "2.3-17": faulty & text(r"\\u0000|\\u[dD][89a-fA-F]"),
    "2.3-18": OBJECT & has("objectTypeProperty.arrayOfObjectType"),
    # Of a long body only the beginning is kept, which is no JSON.
    "2.3-19": COLLECTION & text(r'"arrayOf[A-Za-z]+":\s*\[(?:[^,\]]*,){1000}') & ok,
    "2.3-20": OBJECT & text(r'"arrayOfObjectType":\s*\[(?:[^\]]*,)?\s*\{\s*\}') & ok,
    "2.3-22": OBJECT & text(r"-0\.0") & ok,
    "2.3-21": OBJECT & text(r'"arrayOfUniqueIntExample":\s*\[[^\]]*\.0') & faulty,
    # Versions
    "9-1": COLLECTION & status(201),
    "9-2": WRITE & ~DELETE & status(200),
    "9-3": WRITE & ~DELETE & status(200),
    "9-4": Then(COLLECTION & ok, COLLECTION & ok, same_call),
    "9-5": UPDATE & status(409),
    "9-6": code("ConcurrentModification"),
    "9-7": code("ConcurrentModification"),
    "9-8": Then(code("ConcurrentModification"), WRITE & VERSIONED & ok, same_path),
    "9-9": WRITE & (text(r'"version":\s*[0-9]+\.0+\b') | par("version", r"\.0+$")),
    "9-10": WRITE & (text(r'"version":\s*[0-9]+\.[0-9]*[1-9]') | par("version", r"\.[0-9]*[1-9]")),
    "9-11": WRITE & text(r'"version":\s*(?:"|true|false|null)'),
    "9-12": COLLECTION & has("version") & status(200, 409),
    "9-13": COLLECTION & has("version") & status(201),
    # Two projections
    "3-1": COLLECTION & par("staged"),
    "3-2": COLLECTION & STAGED & ok,
    "3-3": COLLECTION & STAGED & status(201),
    "3-4": SEARCH & ok,
    "3-5": SEARCH & ok & said(r'"hasStagedChanges":'),
    "3-6": action(r'"publish"') & ok,
    "3-7": action(r'"revertStagedChanges"') & ok,
    "3-8": action(r'"staged":\s*true') & ok,
    "3-9": action(r'"publish"|"revertStagedChanges"') & ok,
    "3-10": Then(COLLECTION & STAGED & ok, PAGES & ok, same_project),
    "3-11": COLLECTION & STAGED & status(200),
    # Update actions
    "2.6-1": UPDATE & has("actions"),
    "2.6-2": action(r'"doSomeThing"') & ok,
    "2.6-3": action(r'"changeSomeProperty"') & ok,
    "2.6-4": action(r'"changeSomeProperty"') & code("InvalidJsonInput"),
    "2.6-5": UPDATE & faulty & said(r"actions -> [0-9]+"),
    "2.6-6": UPDATE & code("InvalidJsonInput") & said(r"actions -> [0-9]+ -> action"),
    "2.6-7": action(r'"someProperty":\s*""') & ok,
    # Lists
    "4.1-1": LIST & ok,
    "4.1-2": (PAGES | SEARCH) & ok,
    "4.1-3": LIST & ok & said(r'"results":\[\{'),
    "4.1-4": LIST & ok & said(r'"results":\[\{'),
    "4.1-5": (
        LIST
        & par("stringParameter|floatParameter|integerParameter|withMarkdownDescription|objectParameter|arrayOfString.*")
    ),
    "4.1-6": LIST & par("stringParameter") & ok,
    "4.1-7": LIST & par("floatParameter") & ok,
    "4.1-8": LIST & par("integerParameter") & ok,
    "4.1-9": LIST & par("withMarkdownDescription") & ok,
    "4.1-10": LIST & par("arrayOfString") & ok,
    "4.1-11": LIST & par("arrayOfStringWithDescription") & ok,
    "4.1-12": LIST & par("objectParameter") & ok,
    "4.1-13": LIST & par("objectParameter", r"\[\s*\]|arrayOfTwonumbersExample|arrayOfUniqueIntExample") & ok,
    "4.1-14": LIST & par("objectParameter") & faulty,
    "4.1-15": (
        LIST & ok
        & target(r"\?.*(?:Parameter|Description|arrayOfString)=.*&.*(?:Parameter|Description|arrayOfString|where)=")
    ),
    "4.1-16": LIST & faulty & par("integerParameter|floatParameter|withMarkdownDescription"),
    "4.1-17": LIST & par(r"where|var[.].+|sort|limit|offset|withTotal|expand"),
    "4.1-18": LIST & ok & ~par("sort"),
    "4.1-19": LIST & par("objectParameter", r'^\s*\{\s*"objectTypeProperty"') & ok,
    # Get by id, get by key
    "4.2-1": BY_ID & ok,
    "4.2-2": BY_ID & par("optionalQueryParameter|secondOptionalQueryParameter"),
    "4.2-5": BY_ID & par("optionalQueryParameter|secondOptionalQueryParameter") & ok,
    "4.2-3": BY_ID & status(404),
    "4.2-4": BY_ID & path(r"/resource/[0-9A-F-]*[A-F][0-9A-F-]*$") & ok,
    "4.3-1": BY_KEY & ok,
    "4.3-2": BY_KEY & status(404),
    "4.3-3": BY_KEY & status(404) & path(r"key(?:=|%3[Dd])(?:.?$|.*%20)"),
    "4.3-4": Then(BY_KEY, BY_KEY, lambda entry: entry.path.lower()),
    "4.3-5": BY_KEY & path(r"key=(?:key|searchApiPattern|sorted-query-parameters)$"),
    # Existence check
    "4.5-1": CHECK & status(200),
    "4.5-2": CHECK & status(404),
    "4.5-3": CHECK & par(".*Parameter|withMarkdownDescription|arrayOfString.*"),
    "4.5-4": CHECK & par(r"where|var[.].+|sort|limit|offset|withTotal"),
    "4.5-5": CHECK & status(400, 401, 403),
    # Create or update
    "4.6-1": POST & has("objectTypeProperty") & ok,
    "4.6-2": POST & status(201),
    "4.6-3": POST & NAMELESS & status(201),
    "4.6-4": POST & has("key") & status(201),
    "4.6-5": POST & (has("key") | has("id")) & status(200),
    "4.6-6": POST & (has("key") | has("id")) & status(200),
    "4.6-7": COLLECTION & has("id") & status(404),
    "4.6-8": COLLECTION & has("id") & ok,
    "4.6-9": COLLECTION & ~has("objectTypeProperty") & faulty,
    "4.6-10": COLLECTION & has("createdAt") & ok,
    "4.6-11": POST & status(201),
    "4.6-12": POST & status(201),
    # Overwrite
    "4.7-1": PATCH & ok,
    "4.7-2": PATCH & ok,
    "4.7-3": PATCH & (ok | status(404)),
    "4.7-4": PATCH & NAMELESS & faulty,
    "4.7-5": PATCH & has("key") & status(404),
    "4.7-6": PATCH & ~has("version"),
    "4.7-7": PATCH & ok,
    # Create or overwrite
    "4.8-1": PUT & status(200),
    "4.8-2": PUT & ok,
    "4.8-3": PUT & (has("key") | has("id")),
    "4.8-4": PUT & NAMELESS & ok,
    "4.8-5": PUT & NAMELESS & ok,
    "4.8-6": PUT & ~has("version") & ok,
    "4.8-7": PUT & status(200),
    "4.8-8": Then(PUT & has("key") & ok, PUT & ok, same_call),
    "4.8-9": PUT & ok,
    "4.8-10": PUT & ok,
    "4.8-11": PUT & ok,
    # Update by id
    "4.10-1": UPDATE & ok & has("actions"),
    "4.10-2": UPDATE & ok,
    "4.10-3": UPDATE & faulty,
    "4.10-4": UPDATE & status(404),
    "4.10-5": UPDATE & faulty & ~has("version", "actions"),
    "4.10-6": UPDATE & status(409) & text(r'"actions":\s*\[\s*\]'),
    "4.10-7": UPDATE & ok & text(r'"actions":\s*\[\s*\]'),
    "4.10-8": Then(action("changeSomeProperty") & ok, action("changeSomeProperty") & ok, same_path),
    "4.10-9": UPDATE & ok & text(r'"actions":\s*\[[^\]]*\}\s*,'),
    "4.10-10": UPDATE & text(r'(?:"action"[^}]*\}.*?){100}'),
    # Delete
    "4.11-1": Then(DELETE & ok, (READ | LIST | SORTED | SEARCH), same_project),
    "4.11-2": DELETE & ok,
    "4.11-3": DELETE & status(404),
    "4.11-4": DELETE & ~par("version") & ok,
    "4.11-5": DELETE & status(409),
    "4.11-6": DELETE & par("version", r"[^0-9]"),
    "4.11-7": Then(DELETE & ok, COLLECTION & has("key") & status(201), same_project),
}  # fmt: skip

NOT_OBSERVABLE: Mapping[str, str] = {
    "2.1-2": "no journal: a key that no project can have belongs to none",
    "2.1-4": "what is not shown of other projects leaves no trace in this one",
    "2.1-5": "what is not written in other projects leaves no trace in this one",
    "2.1-13": "a setting of the operator",
    **{f"9-{number}": "which requests were concurrent on purpose cannot be told" for number in range(14, 27)},
}
