"""seed, export and import: an export can be imported unchanged, and refused lines are reported by number."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from click.testing import CliRunner, Result

from app.bulk import seed, transfer
from app.bulk.transfer import LINES_AT_ONCE, VERSION_AT_MOST
from app.cli import main
from app.resource.model import RESOURCE_BYTES_AT_MOST
from tests.support.api import EXAMPLE, Api
from tests.support.server import NOT_MEASURED

CUT = (
    "The export was cut short: its last line, which counts the others, is missing. Only exports of 0.2.0 or earlier"
    " have no such line."
)


@pytest.fixture
def run(database_url: str) -> Any:
    def run(*arguments: str, stdin: str | bytes | None = None) -> Result:
        return CliRunner().invoke(main, list(arguments), env={"DATABASE_URL": database_url}, input=stdin)

    return run


@pytest.fixture
def varied(api: Api) -> list[dict[str, Any]]:
    """Resources with and without key, someProperty and staged changes."""
    plain = api.create({})
    keyed = api.create({"arrayOfFloatExample": [-0.0, 1e-300, 0.1], "arrayOfStringExample": ['"\\\n€😀']}, key="a-key")
    named = api.update(api.create(), {"action": "changeSomeProperty", "someProperty": 'some "text"\u2028'})
    staged = api.create(key="staged")
    answer = api.put(
        json={"key": "staged", "objectTypeProperty": {"arrayOfIntExample": [7]}}, query_string="staged=true"
    )
    api.update(answer.get_json(), {"action": "changeSomeProperty", "someProperty": "soon", "staged": True})
    return [plain, keyed, named, api.get(f"/{staged['id']}").get_json()]


def export(run: Any, project: str) -> str:
    result = run("export", "--project", project)
    assert result.exit_code == 0, result.stderr
    return result.stdout


def test_an_export_has_a_line_for_each_resource_as_the_api_returns_it(
    run: Any, api: Api, varied: list[dict[str, Any]]
) -> None:
    *lines, last = [json.loads(line) for line in export(run, api.project).split("\n") if line]
    assert last == {"exportedResources": 4}
    staged = lines[-1].pop("staged")
    assert lines == varied
    assert staged == {"objectTypeProperty": {"arrayOfIntExample": [7]}, "someProperty": "soon"}


@pytest.mark.usefixtures("varied")
def test_an_export_of_an_import_is_the_same_text(run: Any, api: Api) -> None:
    exported = export(run, api.project)
    target = f"{api.project}-copy"
    result = run("import", "--project", target, stdin=exported)
    assert result.exit_code == 0
    assert result.stderr == "4 lines: 4 imported, 0 already there, 0 refused.\n"
    assert export(run, target) == exported


@pytest.mark.usefixtures("varied")
def test_an_import_can_be_repeated(run: Any, api: Api, tmp_path: Path) -> None:
    file = tmp_path / "resources.ndjson"
    assert run("export", "--project", api.project, "--output", str(file)).exit_code == 0
    file.write_text(file.read_text() + json.dumps({"objectTypeProperty": EXAMPLE}) + "\n\n")
    target = f"{api.project}-copy"
    first = run("import", "--project", target, "--input", str(file))
    second = run("import", "--project", target, "--input", str(file))
    assert first.stderr == "5 lines: 5 imported, 0 already there, 0 refused.\n"
    assert second.stderr == "5 lines: 0 imported, 5 already there, 0 refused.\n"
    assert (first.exit_code, second.exit_code) == (0, 0)


def test_an_imported_line_without_id_is_as_young_as_its_created_at_says(run: Any, api: Api) -> None:
    times = [None, "1969-01-01T00:00:00Z", "2020-01-01T00:00:00.123Z"]
    lines = [{"objectTypeProperty": {}} | ({"createdAt": time} if time else {}) for time in times]
    assert run("import", "--project", api.project, stdin="\n".join(map(json.dumps, lines))).exit_code == 0
    created = api.create()
    assert api.put(json={"objectTypeProperty": {"arrayOfIntExample": [1]}}).get_json()["id"] == created["id"]
    ids = [UUID(each["id"]) for each in api.get(query_string={"sort": "createdAt"}).get_json()["results"]]
    assert [each.version for each in ids] == [8, 8, 8, 7]
    assert sorted(each.int >> 80 for each in ids[:3]) == [0, 0, 1_577_836_800_123]
    assert max(ids) == UUID(created["id"])


def test_an_imported_line_was_created_no_later_than_modified(run: Any, api: Api) -> None:
    lines = [
        '{"objectTypeProperty": {}, "key": "old", "lastModifiedAt": "2019-01-01T00:00:00Z"}',
        '{"objectTypeProperty": {}, "key": "both", "createdAt": "2019-01-01T00:00:00.0006Z",'
        ' "lastModifiedAt": "2019-01-01T00:00:00.0004Z"}',
        '{"objectTypeProperty": {}, "key": "ahead", "lastModifiedAt": "2130-01-01T00:00:00Z"}',
    ]
    assert run("import", "--project", api.project, stdin="\n".join(lines)).exit_code == 0
    for key, same in (("old", True), ("both", True), ("ahead", False)):
        found = api.get(f"/key={key}").get_json()
        assert (found["createdAt"] == found["lastModifiedAt"]) is same, found


def test_an_update_does_not_step_before_the_creation(run: Any, api: Api) -> None:
    line = '{"objectTypeProperty": {}, "key": "later", "createdAt": "2130-01-01T00:00:00Z"}'
    assert run("import", "--project", api.project, stdin=line).exit_code == 0
    changed = api.update(api.get("/key=later").get_json(), {"action": "changeSomeProperty", "someProperty": "x"})
    assert changed["lastModifiedAt"] == changed["createdAt"] == "2130-01-01T00:00:00.000Z"


@pytest.mark.usefixtures("varied")
def test_an_export_that_was_cut_is_noticed(run: Any, api: Api) -> None:
    exported = export(run, api.project)
    lines = exported.splitlines(keepends=True)
    cut = run("import", "--project", f"{api.project}-end", stdin="".join(lines[:-1]))
    assert cut.exit_code == 1
    assert cut.stderr == f"{CUT}\n4 lines: 4 imported, 0 already there, 0 refused.\n"
    lost = run("import", "--project", f"{api.project}-middle", stdin="".join(lines[:1] + lines[2:]))
    assert lost.exit_code == 1
    assert lost.stderr.splitlines() == [
        "line 4: The export had 4 resources, and 3 lines came before this one.",
        "4 lines: 3 imported, 0 already there, 1 refused.",
    ]
    both = run("import", "--project", f"{api.project}-end", stdin=exported + "\n" + exported)
    assert both.stderr == "8 lines: 0 imported, 8 already there, 0 refused.\n"


def test_of_a_line_that_is_too_long_only_the_beginning_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "LONGEST_LINE", 1000)
    source = io.BytesIO(b"a" * 1000 + b"\n" + b"b" * 5_000_000 + b"\nc\n" + b"d" * 200_000)
    assert [len(line) for line in transfer.lines_of(source)] == [1001, 1001, 2, 1001]


def test_refused_lines_are_reported_and_the_others_imported(run: Any, api: Api) -> None:
    good = json.dumps({"key": "good", "objectTypeProperty": EXAMPLE})
    lines = [
        good,
        "{",
        '{"objectTypeProperty": {"arrayOfIntExample": [1, "x"]}}',
        '{"key": "!", "objectTypeProperty": {}, "id": "no-uuid", "version": 0}',
        '{"key": "good", "objectTypeProperty": {}}',
        '{"objectTypeProperty": {}, "createdAt": "yesterday", "nonsense": 1}',
        "[]",
        '{"objectTypeProperty": {}, "createdAt": "2020-01-02T00:00:00Z", "lastModifiedAt": "2020-01-01T00:00:00Z"}',
        '{"key": "fine", "objectTypeProperty": {"arrayOfStringExample": ["ok"]}}',
    ]
    result = run("import", "--project", api.project, stdin="\n".join(lines))
    assert result.exit_code == 1
    *reported, summary = result.stderr.splitlines()
    assert summary == "9 lines: 2 imported, 0 already there, 7 refused."
    assert [line.split(":")[0] for line in reported] == [f"line {number}" for number in range(2, 9)]
    assert "line 1, column 2" in reported[0]
    assert "objectTypeProperty -> arrayOfIntExample -> 1" in reported[1]
    for field in ("'id'", "'version'", "'key'"):
        assert field in reported[2]
    assert "A duplicate value" in reported[3]
    assert "nonsense: Unknown field." in reported[4]
    assert reported[6] == "line 8: lastModifiedAt is before createdAt."
    assert {item["key"] for item in api.get().get_json()["results"]} == {"good", "fine"}


def test_what_no_request_could_have_made_is_refused(run: Any, api: Api) -> None:
    def author(name: str) -> str:
        return json.dumps({"objectTypeProperty": {}, "createdBy": {"typeId": "api-client", "id": name}})

    largest = f'{{"objectTypeProperty": {{}}, "key": "largest", "version": {VERSION_AT_MOST}}}'
    lines = [
        largest,
        author("a" * 256),
        *(largest.replace(str(VERSION_AT_MOST), str(version)) for version in (VERSION_AT_MOST + 1, 2**63 - 1, 2**63)),
        author("a" * 257),
        author("a" * 100_000),
        author(""),
    ]
    result = run("import", "--project", api.project, stdin="\n".join(lines))
    assert result.stderr.splitlines()[-1] == "8 lines: 2 imported, 0 already there, 6 refused."
    change = {"version": VERSION_AT_MOST, "actions": [{"action": "doSomeThing"}]}
    (item,) = (each for each in api.get().get_json()["results"] if each.get("key") == "largest")
    assert api.post(f"/{item['id']}", json=change).get_json()["version"] == VERSION_AT_MOST + 1


def test_the_youngest_resource_without_a_key_is_so_in_a_copy_too(run: Any, api: Api, other_project: Api) -> None:
    api.put(json={"objectTypeProperty": {"arrayOfIntExample": [1]}})
    youngest = api.create()
    api.create(key="a-key")
    exported = export(run, api.project)
    result = run("import", "--project", other_project.project, stdin=exported)
    assert result.stderr.startswith("3 lines: 3 imported")
    assert export(run, other_project.project) == exported
    assert other_project.put({"objectTypeProperty": {}}).get_json()["id"] == youngest["id"]


def test_the_mark_of_an_export_of_0_2_0_is_ignored(run: Any, api: Api) -> None:
    lines = [f'{{"unnamed": true, "key": "key-{number}", "objectTypeProperty": {{}}}}' for number in range(2)]
    lines.append('{"exportedResources": 2}')
    result = run("import", "--project", api.project, stdin="\n".join(lines))
    assert result.stderr.splitlines() == ["2 lines: 2 imported, 0 already there, 0 refused."]
    assert "unnamed" not in export(run, api.project)


def test_the_largest_resource_that_a_write_leaves_can_be_imported(run: Any, api: Api) -> None:
    text = "\x01" * (RESOURCE_BYTES_AT_MOST - len("{}"))
    largest = json.dumps({"objectTypeProperty": {}, "someProperty": text})
    larger = json.dumps({"objectTypeProperty": {}, "someProperty": text + "a"})
    result = run("import", "--project", api.project, stdin=f"{largest}\n{larger}")
    assert result.stderr.splitlines() == [
        f"line 2: The Resource would hold more than {RESOURCE_BYTES_AT_MOST} bytes, its current and its staged"
        " projection together.",
        "2 lines: 1 imported, 0 already there, 1 refused.",
    ]


def test_an_import_of_several_steps(run: Any, api: Api) -> None:
    count = LINES_AT_ONCE * 2 + 1
    lines = "\n".join(json.dumps({"key": f"k-{number}", "objectTypeProperty": {}}) for number in range(count))
    result = run("import", "--project", api.project, stdin=lines)
    assert result.exit_code == 0
    assert api.get().get_json()["total"] == count


def test_seeded_resources_are_the_same_each_time() -> None:
    first, second = (list(seed.resources("p", 50, 7)) for _ in range(2))
    assert first == second
    assert list(seed.resources("p", 20, 7)) == first[:20]
    assert list(seed.resources("p", 50, 8)) != first
    assert [resource.id for resource in first] == sorted(resource.id for resource in first)
    assert {resource.id.version for resource in first} == {7}


def test_seeded_resources_can_be_exported_and_imported(run: Any, api: Api) -> None:
    result = run("seed", "--project", api.project, "--count", "300")
    assert result.exit_code == 0
    assert result.stderr == "Seeding: 300, done.\n"
    assert api.get().get_json()["total"] == 300
    copied = run("import", "--project", f"{api.project}-copy", stdin=export(run, api.project))
    assert copied.stderr == "300 lines: 300 imported, 0 already there, 0 refused.\n"


def test_seeding_twice_loads_nothing_the_second_time(run: Any, api: Api) -> None:
    assert run("seed", "--project", api.project, "--count", "10", "--seed", "3").exit_code == 0
    again = run("seed", "--project", api.project, "--count", "20", "--seed", "3")
    assert again.exit_code == 1
    assert "has resources of --seed 3 already" in again.stderr
    assert api.get().get_json()["total"] == 10


@pytest.mark.parametrize("command", ["seed", "export", "import"])
def test_a_project_key_is_checked(run: Any, command: str) -> None:
    result = run(command, "--project", "a/b", *(["--count", "1"] if command == "seed" else []))
    assert result.exit_code == 2
    assert "'a/b' is no project key" in result.stderr


SIZES = {"small": (2_100, 4_200, 2_000), "large": (12, 36, 500_000)}
"""Two numbers of resources, both more than twice what is read or written at once, and how often their text repeats
three letters. Without blanks it has no words to be indexed. The larger number has 12 and 36 MB more."""

PEAK_AT_MOST_MIB = 143
"""150 MB, for any number of resources."""

GROWTH_AT_MOST_MIB = 4

COMMAND = """
import re, sys
from pathlib import Path
from app.cli import main
main(sys.argv[1:], standalone_mode=False)
print(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
"""


def peak_mib(database_url: str, *arguments: str) -> float:
    """The peak memory of a command that runs in a process of its own, in MiB."""
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, *arguments],
        env=os.environ | NOT_MEASURED | {"DATABASE_URL": database_url},
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout.splitlines()[-1]) / 1024


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("size", SIZES)
def test_memory_does_not_grow_with_the_resources(database_url: str, project: str, tmp_path: Path, size: str) -> None:
    peaks: dict[str, list[float]] = {"import": [], "export": []}
    *counts, repeats = SIZES[size]
    for count in counts:
        file = tmp_path / f"{count}.ndjson"
        text = "dog" * repeats
        file.write_text("".join(f'{{"objectTypeProperty":{{}},"someProperty":"{n} {text}"}}\n' for n in range(count)))
        name = ("--project", f"{project}-{count}")
        peaks["import"].append(peak_mib(database_url, "import", *name, "--input", str(file)))
        peaks["export"].append(peak_mib(database_url, "export", *name, "--output", str(tmp_path / "out")))
        assert len((tmp_path / "out").read_bytes().splitlines()) == count + 1
    for command, (few, many) in peaks.items():
        assert many - few < GROWTH_AT_MOST_MIB, (command, few, many)
        assert many < PEAK_AT_MOST_MIB, (command, few, many)
