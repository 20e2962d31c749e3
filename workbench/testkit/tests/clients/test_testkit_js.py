"""The npm package of ``testkit-js``, as its users have it: packed, and unpacked in folders of its examples."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from clients.tools import HERE, NODE, NODE_HOME, WORK, call, install_node_packages
from tests.support.service import ROOT
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.contract]

KIT = ROOT / "workbench/testkit-js"
EXAMPLES = KIT / "examples"
RUNNERS = ("vitest", "node-test")
README = (KIT / "README.md").read_text()
BLOCKS = dict(re.findall(r"^<!-- (\S+) -->\n```\w+\n(.*?)^```$", README, re.MULTILINE | re.DOTALL))

MODULES = WORK / "testkit-js" / "node_modules"

COMMANDS: Mapping[str, list[str | Path]] = {
    "vitest": [NODE, MODULES / "vitest/vitest.mjs", "run", "--maxWorkers=2"],
    "node-test": [NODE, "--test", "--test-concurrency=2"],
}

HEADS = {
    "vitest": 'import { projectFixture } from "sample-resource-testkit/vitest";\n'
    'import { test as base } from "vitest";\n'
    "const test = base.extend({ project: projectFixture() });\n"
    "const tested = (name, run) => test(name, { timeout: 600_000 }, ({ project }) => run(project));\n",
    "node-test": 'import test from "node:test";\n'
    'import { withProject } from "sample-resource-testkit";\n'
    "const tested = (name, run) => test(name, withProject(run));\n",
}
"""``tested(name, run)`` is a test with a project, for each runner."""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What ``make dist`` packs."""
    folder = tmp_path_factory.mktemp("packed")
    call([sys.executable, ROOT / "ops/make/dist.py", "--of", "testkit-js", "--outdir", folder], {})
    (packed,) = folder.iterdir()
    return packed


@pytest.fixture(scope="module")
def examples(package: Path) -> Path:
    """A copy of the examples, with vitest and the package."""
    install_node_packages()
    folder = WORK / "testkit-js"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(EXAMPLES, folder)
    MODULES.mkdir()
    (MODULES / "vitest").symlink_to(HERE / "node_modules" / "vitest")
    with tarfile.open(package) as packed:
        packed.extractall(MODULES, filter="data")
    (MODULES / "package").rename(MODULES / "sample-resource-testkit")
    return folder


def in_folder(folder: Path, files: Mapping[str, str], examples: Path) -> Path:
    """A new folder with tests, which uses what the examples have installed."""
    folder.mkdir()
    shutil.copy(examples / "package.json", folder)
    (folder / "node_modules").symlink_to(examples / "node_modules")
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def environment(**more: str) -> dict[str, str]:
    """The variables of a test run that starts the installed service."""
    kept = {name: text for name, text in os.environ.items() if name not in ("SAMPLE_RESOURCE_URL", "SANDBOX_TOKEN")}
    path = os.pathsep.join([str(NODE_HOME / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]])
    return kept | {"PATH": path, "NO_COLOR": "1"} | more


def run(runner: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return run_command(COMMANDS[runner], folder)


def run_command(command: Sequence[str | Path], folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=folder,
        env=environment(**more),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
        check=False,
    )


def test_the_types_are_those_of_the_code(tmp_path: Path) -> None:
    install_node_packages()
    compiler = [NODE, "node_modules/typescript/bin/tsc", "--project", KIT]
    call([*compiler, "--outDir", tmp_path], {})
    made = {path.name: path.read_text() for path in tmp_path.iterdir()}
    kept = {path.name: path.read_text() for path in (KIT / "types").iterdir()}
    assert made == kept, "write them: npx tsc --project ../../../testkit-js in workbench/testkit/tests/clients"


@pytest.mark.parametrize("runner", RUNNERS)
def test_an_example_passes(runner: str, examples: Path) -> None:
    folder = examples / runner
    ran = run(runner, folder)
    assert ran.returncode == 0, ran.stdout


def test_the_examples_compile(examples: Path, tmp_path: Path) -> None:
    """In strict mode, with the types of the package."""
    install_node_packages()
    folder = examples / "vitest"
    options = {
        "strict": True,
        "noEmit": True,
        "module": "nodenext",
        "target": "es2023",
        "lib": ["es2023", "esnext.disposable", "dom"],
        "allowJs": True,
        "exactOptionalPropertyTypes": True,
        "typeRoots": [str(ROOT / "workbench/testkit/tests/clients/node_modules/@types")],
        "types": ["node"],
        "skipLibCheck": True,
    }
    (folder / "tsconfig.json").write_text(json.dumps({"compilerOptions": options, "include": ["*.ts"]}))
    call([NODE, "node_modules/typescript/bin/tsc", "--project", folder], {})


@pytest.mark.parametrize("runner", RUNNERS)
def test_a_test_that_fails_says_what_its_client_sent(runner: str, examples: Path, tmp_path: Path) -> None:
    failing = """
    tested("fails", async (project) => {
      const headers = { Authorization: `Bearer ${project.token}` };
      await fetch(`${project.url}/resource?withTotal=True&limt=1`, { headers });
      await project.expect("GET", "/resource", { query: { limit: "2" } });
    });
    """
    folder = in_folder(tmp_path / "failing", {"it.test.js": HEADS[runner] + failing}, examples)
    ran = run(runner, folder)
    assert ran.returncode == 1, ran.stdout
    shown = "\n".join(line.strip() for line in ran.stdout.splitlines())
    for line in (
        'GET /resource with query {"limit":"2"} was expected at least once, and was sent 0 times.',
        'query -> limit: "2" was expected, and it is not there',
        *BLOCKS["failure"].splitlines(),
    ):
        assert line.strip() in shown, ran.stdout


JUDGED = """
tested("asks for a total as Python spells it", async (project) => {
  await fetch(`${project.url}/resource?withTotal=True`, { headers: { Authorization: `Bearer ${project.token}` } });
});
"""
"""Tests that pass, of a client with one finding."""

JUDGES = {
    "vitest": {
        "vitest.config.mjs": 'export default { test: { globalSetup: "./after.mjs" } };\n',
        "after.mjs": 'export { default as teardown } from "./judge.mjs";\n',
    },
    "node-test": {"all.mjs": BLOCKS["all.mjs"]},
}


@pytest.mark.parametrize("runner", JUDGES)
def test_the_documented_judge_fails_the_build(runner: str, examples: Path, tmp_path: Path) -> None:
    files = {"it.test.js": HEADS[runner] + JUDGED, "judge.mjs": BLOCKS["judge.mjs"], **JUDGES[runner]}
    words = [NODE, "all.mjs", "it.test.js"] if runner == "node-test" else COMMANDS[runner]
    ran = run_command(words, in_folder(tmp_path / "judged", files, examples))
    shown = ran.stdout.replace("\n\n", "\n")
    assert "booleanInOtherCase, once: A boolean spelt as in Python" in shown
    assert "/resource?withTotal=True: withTotal=True was sent.\n" in shown
    assert "Send `true` or `false`." in shown
    assert "Startup Error" not in shown
    assert ran.returncode != 0, ran.stdout


def test_the_documented_judge_fails_a_build_without_a_project(examples: Path, tmp_path: Path) -> None:
    test = "import test from 'node:test';\ntest('asks for none', () => {});\n"
    files = {"it.test.js": test, "judge.mjs": BLOCKS["judge.mjs"], **JUDGES["node-test"]}
    ran = run_command([NODE, "all.mjs", "it.test.js"], in_folder(tmp_path / "none", files, examples))
    assert ran.returncode != 0, ran.stdout
    assert "no verdict on the clients: " in ran.stdout


@pytest.mark.parametrize("is_failing", [False, True])
def test_node_test_with_a_judge_passes_and_fails_as_its_tests_do(
    is_failing: bool, examples: Path, tmp_path: Path
) -> None:
    asks = "await fetch(`${project.url}/resource`, { headers: { Authorization: `Bearer ${project.token}` } });"
    then = 'throw new Error("no");' if is_failing else ""
    test = f'tested("asks", async (project) => {{ {asks} {then} }});'
    files = {"it.test.js": HEADS["node-test"] + test, "judge.mjs": BLOCKS["judge.mjs"], "all.mjs": BLOCKS["all.mjs"]}
    ran = run_command([NODE, "all.mjs", "it.test.js"], in_folder(tmp_path / "all", files, examples))
    assert ran.returncode == is_failing, ran.stdout


def seen_in(path: Path) -> list[str]:
    return path.read_text().split() if path.exists() else []


def is_listening(url: str) -> bool:
    asked = subprocess.run(["curl", "--silent", "--max-time", "5", f"{url}/health/live"], check=False)
    return asked.returncode == 0


NOTING = """
import { appendFileSync } from "node:fs";
for (const name of ["one", "two"]) {
  tested(name, async (project) => {
    appendFileSync(process.env.SEEN, `${project.serverUrl} `);
    await new Promise((resolve) => setTimeout(resolve, Number(process.env.PAUSE)));
  });
}
"""


@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize("is_killed", [False, True])
def test_workers_share_a_server_that_ends_with_the_runner(
    runner: str, is_killed: bool, examples: Path, tmp_path: Path
) -> None:
    tests: dict[str, str] = dict.fromkeys(("one.test.js", "two.test.js"), HEADS[runner] + NOTING)
    folder = in_folder(tmp_path / "shared", tests, examples)
    seen, temporary = tmp_path / "seen", tmp_path / "temporary"
    temporary.mkdir()
    for path in (temporary, *temporary.parents[:3]):
        path.chmod(path.stat().st_mode | 0o011)  # for the account of PostgreSQL, which is not root
    more = {"SEEN": str(seen), "TMPDIR": str(temporary), "PAUSE": "600000" if is_killed else "0"}
    process = subprocess.Popen(
        COMMANDS[runner],
        cwd=folder,
        env=environment(**more),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        if is_killed:
            # One of each file, in a worker of its own.
            wait_until(lambda: len(seen_in(seen)) == 2, 120)
            assert is_listening(seen_in(seen)[0])
            process.send_signal(signal.SIGKILL)
        process.wait(600)
        assert len(seen_in(seen)) == (2 if is_killed else 4)
        (url,) = set(seen_in(seen))
        wait_until(lambda: not is_listening(url), 120)
        wait_until(lambda: not list(temporary.glob("sample-resource-testkit-js-*")), 120)
    finally:
        if is_killed:
            with suppress(ProcessLookupError):  # workers that were waiting may outlive a runner that was killed
                os.killpg(process.pid, signal.SIGKILL)


def test_without_a_server_it_says_what_to_install(examples: Path, tmp_path: Path) -> None:
    folder = in_folder(tmp_path / "none", {"it.mjs": BLOCKS["example.mjs"]}, examples)
    ran = subprocess.run(
        [NODE, "it.mjs"],
        cwd=folder,
        env=environment(PATH=os.devnull),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 1
    assert "SandboxError: there is no server: install the command sample-resource" in ran.stderr
    assert "pip install 'sample-resource-testkit[server]'" in ran.stderr


def test_readme_says_what_works(examples: Path, tmp_path: Path) -> None:
    """In a folder as ``npm init -y`` makes it, where the name of a file tells that it is a module."""
    assert BLOCKS["judge.mjs"] == (EXAMPLES / "judge.js").read_text()
    blocks = ("example.test.mjs", "example.test.ts", "vitest.config.mjs", "example.mjs")
    assert BLOCKS.keys() == {*blocks, "failure", "judge.mjs", "all.mjs"}
    initial = {"package.json": '{"type": "commonjs"}'}

    plain = in_folder(tmp_path / "plain", initial | {"example.test.mjs": BLOCKS["example.test.mjs"]}, examples)
    ran = run("node-test", plain)
    assert ran.returncode == 0, ran.stdout
    assert "pass 1" in ran.stdout
    (plain / "example.mjs").write_text(BLOCKS["example.mjs"])
    shown = subprocess.check_output([NODE, "example.mjs"], cwd=plain, env=environment(), text=True, timeout=300)
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/sb-[a-z]+ \S+\n", shown)

    files = {name: BLOCKS[name] for name in ("example.test.ts", "vitest.config.mjs")}
    ran = run("vitest", in_folder(tmp_path / "vitest", initial | files, examples))
    assert ran.returncode == 0, ran.stdout
