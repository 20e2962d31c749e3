// One server for all processes of a test run, which ends with the run, however that ends.
//
// Test runners start workers: processes that come and go while the runner lives. So the run is the process of the runner.
// Whoever needs the server first starts `sample-resource sandbox`, which makes the folder of the run, and stops the service
// when the process of the runner is gone.

import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { accessSync, constants, existsSync, lstatSync, readFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { isMainThread } from "node:worker_threads";

import { SandboxError } from "./server.js";

const STARTED_WITHIN_MS = 400_000;

/** The process of the test runner: the parent of a worker process, else this process, which all its threads share. */
function runner() {
  const { NODE_TEST_CONTEXT = "", VITEST_POOL_ID, JEST_WORKER_ID, MOCHA_WORKER_ID } = process.env;
  const isForked = process.connected && (VITEST_POOL_ID ?? JEST_WORKER_ID ?? MOCHA_WORKER_ID) !== undefined;
  return isMainThread && (isForked || NODE_TEST_CONTEXT.startsWith("child")) ? process.ppid : process.pid;
}

/**
 * When a process began, as the system says it; undefined if it has ended. Another process that gets its number later
 * began at another time.
 * @param {number} pid
 */
function began(pid) {
  if (existsSync("/proc/self/stat")) {
    try {
      const text = readFileSync(`/proc/${pid}/stat`, "utf8");
      // State and start time are the 3rd and the 22nd field; the 2nd is a name in brackets, which may have blanks.
      const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
      return fields[0] === "Z" ? undefined : fields[19];
    } catch {
      return undefined;
    }
  }
  try {
    const [state, ...time] = execFileSync("ps", ["-o", "stat=,lstart=", "-p", String(pid)], { encoding: "utf8" })
      .trim()
      .split(/\s+/);
    return state?.startsWith("Z") ? undefined : time.join(" ");
  } catch {
    return undefined;
  }
}

/** What no other test run has, of the same machine and user or of another one. */
function identity() {
  const pid = runner();
  const time = began(pid) ?? "";
  const digest = createHash("sha256").update(`${hostname()} ${process.getuid?.()} ${pid} ${time}`).digest("hex");
  return { pid, time, id: digest.slice(0, 16) };
}

/**
 * The name of the run: `SAMPLE_RESOURCE_RUN`, or one that all workers of this runner make up alike.
 * @returns {string}
 */
export function runName() {
  return process.env.SAMPLE_RESOURCE_RUN || `js-${identity().id}`;
}

/**
 * The URL of the server of this run; whoever asks first starts it.
 * @returns {Promise<string>}
 * @throws {SandboxError} if it does not start
 */
export async function shared() {
  const { pid, id } = identity();
  const folder = join(tmpdir(), `sample-resource-testkit-js-${id}`);
  const file = join(folder, "state.json");
  // Several may start it; the one that makes the folder serves the run, and the others end.
  if (!existsSync(folder)) await start(pid, folder);
  for (let waited = 0; !existsSync(file); waited += 20) {
    if (!existsSync(folder) || waited > STARTED_WITHIN_MS) {
      throw new SandboxError(`the server of this run has ended, or takes too long to start: ${folder}`);
    }
    await pause(20);
  }
  // The folder for temporary files is everybody's.
  if (lstatSync(folder).uid !== process.getuid?.()) throw new SandboxError(`${folder} belongs to another user`);
  const state = JSON.parse(readFileSync(file, "utf8"));
  if (state.error) throw new SandboxError(state.error);
  return state.url;
}

/**
 * Start the service, and wait until its folder is there.
 * @param {number} pid of the runner
 * @param {string} folder
 * @returns {Promise<void>}
 */
function start(pid, folder) {
  const command = found("sample-resource");
  if (!command) {
    throw new SandboxError(
      "there is no server: install the command sample-resource (pip install 'sample-resource-testkit[server]'), or name a" +
        " server in SAMPLE_RESOURCE_URL, such as a container with SANDBOX=on (its SANDBOX_TOKEN is read from the environment)",
    );
  }
  const env = { ...process.env };
  // It is for the process of the tests.
  delete env.NODE_CHANNEL_FD;
  const options = ["sandbox", "--until", String(pid), "--folder", folder];
  const started = spawn(command, options, { detached: true, env, stdio: ["ignore", "ignore", "pipe"] });
  let told = "";
  started.stderr.setEncoding("utf8").on("data", (text) => (told += text));
  return new Promise((resolve, reject) => {
    const look = setInterval(() => existsSync(folder) && end(resolve), 20);
    /** @param {() => void} how */
    function end(how) {
      clearInterval(look);
      started.unref();
      started.stderr.destroy();
      how();
    }
    const fail = () => end(() => reject(new SandboxError(`${command} does not start: ${told}`)));
    started.on("error", (error) => ((told = error.message), fail()));
    started.on("close", () => existsSync(folder) || fail());
  });
}

/**
 * The path of a program; undefined if it is not installed.
 * @param {string} name
 */
function found(name) {
  const candidates = (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder || ".", name));
  return candidates.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
