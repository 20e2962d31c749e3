// A process that starts the service for a test run, and stops it when the run has ended in whatever way.
// `node keeper.js FOLDER PID TIME IMAGE`: the run is the process PID that began at TIME; FOLDER is not there yet.

import { execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  accessSync,
  chmodSync,
  constants,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { get } from "node:http";
import { createServer } from "node:net";
import { delimiter, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";

import { began, STATE } from "./shared.js";

/** @typedef {{ state: { url: string, token?: string }, stop: () => Promise<void> }} Running */

const READY_WITHIN_MS = 120_000;
const STOP_WITHIN_MS = 30_000;

/** Another process may take the port that was free, before the service listens on it. */
const TRIES = 3;

/** Variables of the test run that the service gets, beside LC_... and those of coverage; a DATABASE_URL is none. */
const PASSED_ON = new Set(["PATH", "HOME", "TMPDIR", "TZ", "LANG", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "SSL_CERT_FILE"]);

const MEMORY = "/dev/shm";

/** A database of tests needs some hundred MiB, and containers often have 64 MiB in memory. */
const ROOM = 2 << 30;

class NotStarted extends Error {}

/**
 * Keep the service until the run is over.
 * @param {string} folder
 * @param {number} pid
 * @param {string} time
 * @param {string} image
 */
async function main(folder, pid, time, image) {
  try {
    mkdirSync(folder);
  } catch {
    return; // another keeper was faster
  }
  // PostgreSQL does not run as root; the account that it runs with then has to reach its data.
  chmodSync(folder, 0o711);
  // The run is over when its process is gone, and not at Ctrl-C, since the ends of tests may still use the service.
  for (const signal of ["SIGINT", "SIGHUP"]) process.on(signal, () => {});
  const data = dataFolder(folder);
  /** @type {Running | undefined} */
  let running;
  let isAskedToEnd = false;
  process.on("SIGTERM", () => (isAskedToEnd = true));
  try {
    /** @type {object} */
    let state;
    try {
      const command = found("sample-resource");
      running = command ? await startCommand(command, folder, data) : await startImage(image);
      state = running.state;
    } catch (error) {
      state = { error: error instanceof NotStarted ? error.message : String(error) };
    }
    writeFileSync(join(folder, `${STATE}.part`), JSON.stringify(state), { mode: 0o600 });
    renameSync(join(folder, `${STATE}.part`), join(folder, STATE));
    while (!isAskedToEnd && began(pid) === time) await pause(process.platform === "linux" ? 200 : 2000);
  } finally {
    await running?.stop();
    for (const each of [data, folder]) rmSync(each, { recursive: true, force: true });
  }
}

/**
 * The installed service, on a free port.
 * @param {string} command
 * @param {string} folder
 * @param {string} data
 * @returns {Promise<Running>}
 */
async function startCommand(command, folder, data) {
  const log = join(folder, "service.log");
  for (let tries = 0; tries < TRIES; tries += 1) {
    const port = await freePort();
    const output = openSync(log, "w");
    const service = spawn(command, ["serve"], {
      cwd: folder,
      env: environment(port, data),
      stdio: ["ignore", output, output],
      detached: true,
    });
    /** @type {Promise<void>} */
    const end = new Promise((resolve) => {
      service.on("error", () => resolve());
      service.on("exit", () => resolve());
    });
    let hasEnded = false;
    end.then(() => (hasEnded = true));
    const stop = async () => {
      service.kill("SIGTERM");
      const late = setTimeout(() => service.kill("SIGKILL"), STOP_WITHIN_MS);
      await end;
      clearTimeout(late);
    };
    const url = `http://127.0.0.1:${port}`;
    if (await isReady(url, () => !hasEnded)) return { state: { url }, stop };
    await stop();
  }
  throw new NotStarted(`sample-resource does not start:\n${readFileSync(log, "utf8").slice(-4000)}`);
}

/**
 * The variables of the service: a sandbox on loopback, with a PostgreSQL of its own.
 * @param {number} port
 * @param {string} data
 */
function environment(port, data) {
  const kept = Object.entries(process.env).filter(
    ([name]) => PASSED_ON.has(name) || /^(LC_|COV_|COVERAGE_)/.test(name),
  );
  const settings = { SANDBOX: "on", BIND: "127.0.0.1", PORT: String(port), WORKERS: "1", DATA_DIR: join(data, "data") };
  return { ...Object.fromEntries(kept), ...settings };
}

/**
 * The image, in a container that Docker removes with its data when it has ended.
 * @param {string} image
 * @returns {Promise<Running>}
 */
async function startImage(image) {
  const docker = found("docker");
  if (!docker) {
    throw new NotStarted(
      "there is no server: name one in SAMPLE_RESOURCE_URL, or install the command sample-resource" +
        " (pip install 'sample-resource-testkit[server]'), or Docker with the image",
    );
  }
  const token = randomBytes(24).toString("base64url");
  const call = promisify(execFile);
  const options = ["--detach", "--rm", "--label", "sample-resource-testkit", "--publish", "127.0.0.1::8000"];
  // The token is passed by its name, so that it is in no list of processes.
  const variables = ["--env", "SANDBOX=on", "--env", "SANDBOX_TOKEN"];
  const env = { ...process.env, SANDBOX_TOKEN: token };
  const { stdout } = await call(docker, ["run", ...options, ...variables, image], { env }).catch((error) => {
    throw new NotStarted(`the image ${image} does not start: ${error.stderr || error.message}`);
  });
  const container = stdout.trim();
  const stop = async () => {
    await call(docker, ["rm", "--force", "--volumes", container]).catch(() => {});
  };
  const published = await call(docker, ["port", container, "8000/tcp"]).catch(() => ({ stdout: "" }));
  const url = `http://${published.stdout.split("\n")[0]}`;
  const lives = async () => {
    const asked = await call(docker, ["inspect", "--format", "{{.State.Running}}", container]).catch(() => null);
    return asked?.stdout.trim() === "true";
  };
  if (await isReady(url, lives)) return { state: { url, token }, stop };
  const logged = await call(docker, ["logs", container]).catch((error) => ({ stdout: "", stderr: String(error) }));
  await stop();
  throw new NotStarted(`${image} does not start:\n${`${logged.stdout}${logged.stderr}`.slice(-4000)}`);
}

/**
 * Where the data lie: in memory if there is room, since a new database is made of a thousand files, each of which
 * PostgreSQL waits for until it is on the disk; else in the folder of the run.
 * @param {string} folder
 */
function dataFolder(folder) {
  try {
    accessSync(MEMORY, constants.W_OK);
    const { bavail, bsize } = statfsSync(MEMORY);
    if (process.env.TMPDIR || bavail * bsize < ROOM) return folder;
    const made = mkdtempSync(join(MEMORY, "sample-resource-testkit-js-"));
    chmodSync(made, 0o711);
    return made;
  } catch {
    return folder;
  }
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

/** @returns {Promise<number>} a port that nothing listens on just now */
function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer().on("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = /** @type {import("node:net").AddressInfo} */ (probe.address());
      probe.close(() => resolve(port));
    });
  });
}

/**
 * Wait until the service answers; false if it ends, or takes too long.
 * @param {string} url
 * @param {() => boolean | Promise<boolean>} lives
 */
async function isReady(url, lives) {
  const deadline = Date.now() + READY_WITHIN_MS;
  while ((await lives()) && Date.now() < deadline) {
    if ((await status(`${url}/health/ready`)) === 200) return true;
    await pause(20);
  }
  return false;
}

/**
 * @param {string} url
 * @returns {Promise<number | undefined>} undefined without an answer
 */
function status(url) {
  return new Promise((resolve) => {
    const asked = get(url, { agent: false, timeout: 5000 }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    asked.on("timeout", () => asked.destroy());
    asked.on("error", () => resolve(undefined));
  });
}

const [folder = "", pid = "", time = "", image = ""] = process.argv.slice(2);
await main(folder, Number(pid), time, image);
