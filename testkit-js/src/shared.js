// One server for all processes of a test run, which ends with the run, however that ends.
//
// Test runners start workers: processes that come and go while the runner lives. So the run is the process of the runner,
// and whoever needs the server first starts a keeper: a process that makes the folder of the run, starts the service, and
// stops it when the process of the runner is gone. It looks for that itself, so it needs no signal and no hook of a runner.

import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, lstatSync, readFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { isMainThread } from "node:worker_threads";

import { SandboxError } from "./server.js";

const KEEPER = fileURLToPath(new URL("./keeper.js", import.meta.url));

/** In the folder: `{"url": ..., "token": ...}` when the service is ready, `{"error": ...}` if it does not start. */
export const STATE = "state.json";

/** An image may have to be downloaded first. */
const STARTED_WITHIN_MS = 600_000;

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
export function began(pid) {
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
 * The server of this run; whoever asks first starts it.
 * @param {string} image that is started if the command is not installed
 * @returns {Promise<{ url: string, token?: string }>}
 * @throws {SandboxError} if it does not start
 */
export async function shared(image) {
  const { pid, time, id } = identity();
  const folder = join(tmpdir(), `sample-resource-testkit-js-${id}`);
  // Several may come here; the keeper that makes the folder is the one, and the others end.
  if (!existsSync(folder)) keep(folder, pid, time, image);
  for (let waited = 0; !existsSync(join(folder, STATE)); waited += 20) {
    if (waited > STARTED_WITHIN_MS) throw new SandboxError(`the server does not start: see ${folder}`);
    await pause(20);
  }
  // The folder for temporary files is everybody's.
  if (lstatSync(folder).uid !== process.getuid?.()) throw new SandboxError(`${folder} belongs to another user`);
  const state = JSON.parse(readFileSync(join(folder, STATE), "utf8"));
  if (state.error) throw new SandboxError(state.error);
  return state;
}

/**
 * @param {string} folder
 * @param {number} pid
 * @param {string} time
 * @param {string} image
 */
function keep(folder, pid, time, image) {
  const env = { ...process.env };
  // They are for the process of the tests: a debugger, hooks, coverage.
  for (const name of ["NODE_OPTIONS", "NODE_V8_COVERAGE", "NODE_TEST_CONTEXT", "NODE_CHANNEL_FD"]) delete env[name];
  const started = spawn(process.execPath, [KEEPER, folder, String(pid), time, image], {
    detached: true,
    env,
    stdio: "ignore",
  });
  started.on("error", () => {});
  started.unref();
}
