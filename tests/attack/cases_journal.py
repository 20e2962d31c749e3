"""Attacks on what the sandbox writes and shows: resets beside writers, entries, secrets, patterns."""

import hashlib
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

from tests.attack.cases_sandbox import new_project
from tests.attack.table import Tally, case
from tests.faults.service import Answer, Service

GROUP = "journal and resets"

HOSTILE = ("[" * 1200, '{"a":' * 1200, '{"version": 1' + "0" * 5000 + "}", '{"errors": 5}', "&=" * 4000)


@case(GROUP, "a body that no parser can read, without a token: every reader of the journal shows it and the others")
def unreadable_bodies(service: Service, tally: Tally) -> None:
    project = new_project(service)
    key = project["projectKey"]
    for body in HOSTILE:
        service.request("POST", f"/{key}/resource", body)
    for path in ("/requests", "/requests/1", "/requests.har", "/report"):
        answer = service.request("GET", f"/sandbox/projects/{key}{path}")
        tally.expect(answer.status == 200, (path, answer))
    listed = service.request("GET", f"/sandbox/projects/{key}/requests").json()
    tally.expect(listed["total"] == len(HOSTILE), listed["total"])


@case(GROUP, "the client's secret and its token in other spellings: in no output of the journal")
def spelt_secrets(service: Service, tally: Tally) -> None:
    project = new_project(service)
    key = project["projectKey"]
    for secret in (project["clientSecret"], project["accessToken"]):
        percent = "".join(f"%{ord(each):02X}" for each in secret)
        escaped = "".join(f"\\u{ord(each):04x}" for each in secret)
        for target in (f"?x={percent}", f"?client%5Fsecret={secret}", f"?x={quote(percent)}", f"/key={percent}"):
            service.request("GET", f"/{key}/resource{target}")
        service.request("POST", f"/{key}/resource", {"key": escaped, "other": percent})
    for path in ("/requests?limit=500", "/requests.har"):
        text = service.request("GET", f"/sandbox/projects/{key}{path}").body.decode()
        for secret in (project["clientSecret"], project["accessToken"]):
            digest = hashlib.sha256(secret.encode()).hexdigest()[:8]
            tally.expect(secret not in text, f"{path}: a secret ({digest})")
            tally.expect("".join(f"%{ord(each):02X}" for each in secret) not in text, f"{path}: percent ({digest})")


@case(
    GROUP,
    "400 entries of 64 KB: the journal keeps 16 MiB of them, and a list takes little time and memory of a worker",
    within_s=180,
)
def heavy_entries(service: Service, tally: Tally) -> None:
    key = new_project(service)["projectKey"]
    body = {"objectTypeProperty": {"arrayOfStringExample": ["word " * 13_000]}}
    with ThreadPoolExecutor(8) as pool:
        sent = list(pool.map(lambda _: service.request("POST", f"/{key}/resource", body).status, range(400)))
    tally.expect(set(sent) == {401}, set(sent))

    def held() -> int:
        return max(worker.memory_info().rss for worker in service.workers)

    def used() -> float:
        return sum(sum(worker.cpu_times()[:2]) for worker in service.workers)

    def listed() -> Answer:
        return service.request("GET", f"/sandbox/projects/{key}/requests?limit=1")

    memory, processor_s = held(), used()
    # The first list of each worker looks at all entries, the others at new ones. Processor time, since a machine may be
    # busy with other work.
    service.wait_until(lambda: all(listed().status == 200 for _ in range(6)), within_s=90)
    tally.expect(used() - processor_s < 8, f"first lists: {used() - processor_s:.1f} s")
    tally.expect(1 < listed().json()["total"] < 400, listed())
    processor_s = used()
    with ThreadPoolExecutor(12) as pool:
        for answer in pool.map(lambda _: listed(), range(60)):
            tally.expect(answer.status == 200, answer.seconds)
    tally.expect(used() - processor_s < 3, f"60 lists: {used() - processor_s:.1f} s")
    grown = (held() - memory) // 2**20
    tally.expect(grown < 150, f"a worker took {grown} MiB more")


@case(GROUP, "patterns that are dear to compile or to match: 400, and others are answered meanwhile")
def dear_patterns(service: Service, tally: Tally) -> None:
    key = new_project(service)["projectKey"]
    for pattern in (r"(\pL{0,500})N", "(.{0,30}){0,30}N", r"\pL" * 150):
        rules = [{"status": 503, "match": {"path": f"{pattern}{number}"}} for number in range(100)]
        began = time.monotonic()
        with ThreadPoolExecutor(1) as pool:
            put = pool.submit(service.request, "PUT", f"/sandbox/projects/{key}/rules", {"rules": rules})
            live = service.request("GET", "/health/live")
            answer = put.result()
        tally.expect(answer.status == 400, answer)
        tally.expect(live.status == 200, live)
        tally.expect(time.monotonic() - began < 5, f"{pattern} took {time.monotonic() - began:.1f} s")


@case(GROUP, "a reset beside writers of the same keys: every resource is there afterwards", within_s=120)
def reset_beside_writers(service: Service, tally: Tally) -> None:
    project = new_project(service, resources=500)
    key, token = project["projectKey"], project["accessToken"]
    for _ in range(3):
        with service.database() as connection:
            connection.execute("DELETE FROM resource WHERE project_key = %s", (key,))
        over = threading.Event()

        def write(first: int, over: threading.Event = over) -> None:
            for number in range(first, 500, 2):
                if over.is_set():
                    return
                body = {"key": f"seed-1-{number}", "objectTypeProperty": {}}
                service.request("POST", f"/{key}/resource", body, token)

        threads = [threading.Thread(target=write, args=(first,)) for first in range(2)]
        for thread in threads:
            thread.start()
        time.sleep(0.2)
        answer = service.request("POST", f"/sandbox/projects/{key}/reset")
        over.set()
        for thread in threads:
            thread.join()
        with service.database() as connection:
            missing = connection.execute(
                "SELECT count(*) FROM resource_copy c WHERE c.project_key = %s AND c.name = '' AND NOT EXISTS ("
                " SELECT FROM resource r WHERE r.project_key = c.project_key AND r.id = c.id)",
                (key,),
            ).fetchone()
        tally.expect(answer.status == 204 and missing == (0,), (answer, missing))


@case(GROUP, "a project removed with delayed writes under way: none of them leaves a row")
def removed_under_writes(service: Service, tally: Tally) -> None:
    project = new_project(service)
    key, token = project["projectKey"], project["accessToken"]
    rule = {"match": {"method": "POST"}, "delayMs": 2000}
    service.request("PUT", f"/sandbox/projects/{key}/rules", {"rules": [rule]})
    with ThreadPoolExecutor(6) as pool:
        body = {"objectTypeProperty": {}}
        sent = [pool.submit(service.request, "POST", f"/{key}/resource", body, token) for _ in range(6)]
        time.sleep(0.5)
        removed = service.request("DELETE", f"/sandbox/projects/{key}")
        tally.expect(removed.status == 204, removed)
        for each in sent:
            tally.expect(each.result().status == 401, each.result())
    with service.database() as connection:
        for table in ("resource", "sandbox_project", "word", "unindexed_text"):
            rows = connection.execute(f"SELECT count(*) FROM {table} WHERE project_key = %s", (key,)).fetchone()
            tally.expect(rows == (0,), (table, rows))
