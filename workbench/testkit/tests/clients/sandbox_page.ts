// The page of the sandbox in a browser: the whole walk of a person who debugs a client, and what must never happen there.

import http from "node:http";
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process, { env } from "node:process";
import { promisify } from "node:util";
import { type BrowserContext, type Page } from "playwright-core";
import { checkAccessibility, launch, watch } from "./browser.ts";

const { BASE_URL = "", TOKEN_URL = "", SANDBOX_TOKEN = "", CHROMIUM = "", PICTURE, PYTHON, JAVA } = env;

const browser = await launch(CHROMIUM);

/** Errors, warnings, violations of the policy, and requests to other hosts. */
const faults: string[] = [];

// The page talks to the service through this, so that its connections can break.
const sockets = new Set<Socket>();
let isDown = false;
const relay = createServer((socket) => {
  if (isDown) {
    socket.destroy();
    return;
  }
  const service = connect(Number(new URL(BASE_URL).port), new URL(BASE_URL).hostname);
  for (const each of [socket, service]) {
    sockets.add(each);
    each.on("error", () => undefined).on("close", () => {
      sockets.delete(each);
      socket.destroy();
      service.destroy();
    });
  }
  socket.pipe(service).pipe(socket);
});
await new Promise<void>((resolve) => relay.listen(0, "127.0.0.1", resolve));
const ADDRESS = `http://127.0.0.1:${(relay.address() as AddressInfo).port}`;

async function open(context: BrowserContext, address: string): Promise<Page> {
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  watch(page, faults, [address, "blob:"], /status of (400|401|404)|net::ERR_/); // what the walk provokes
  const answer = await page.goto(`${address}/sandbox`);
  const policy = answer?.headers()["content-security-policy"] ?? "";
  match(policy, /default-src 'none'/);
  ok(!policy.includes("unsafe"), policy);
  return page;
}

const show = (page: Page, view: string) => page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: view }).click();

const rows = (page: Page) => page.locator(".list tbody tr");

/** Runs the printed curl line, as a person pastes it into a shell. */
async function runCurl(line: string): Promise<string> {
  ok(line.startsWith("curl -i "), line);
  return (await promisify(execFile)("sh", ["-c", `${line} -sS`])).stdout;
}

// On one connection, as most clients send: what comes on another one may be another client's, and is not judged with it
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
function send(url: string, token: string, method = "GET", body?: unknown): Promise<number> {
  const headers = { Authorization: `Bearer ${token}`, ...(body ? { "Content-Type": "application/json" } : {}) };
  return new Promise((resolve, reject) => {
    const request = http.request(url, { agent, method, headers }, (answer) => {
      answer.resume().on("end", () => resolve(answer.statusCode ?? 0));
    });
    request.on("error", reject).end(body ? JSON.stringify(body) : undefined);
  });
}

const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, permissions: ["clipboard-read", "clipboard-write"] });
const page = await open(context, ADDRESS);
const clipboard = () => page.evaluate(() => navigator.clipboard.readText());

// Make a project
await page.getByRole("heading", { name: "What does your client do when answers fail?" }).waitFor();
await checkAccessibility(page, "start");
await page.getByLabel("Resources").fill("40");
await page.getByRole("button", { name: "Make a project" }).click();
await page.getByRole("heading", { name: "Credentials" }).waitFor();
const project = new URL(page.url()).searchParams.get("project") ?? "";
match(project, /^sb-[a-z]{12}$/);
await checkAccessibility(page, "project");

// No token and no secret stands in the page until somebody opens its field
const html = () => page.content();
await page.getByRole("button", { name: "Copy the access token" }).click();
await page.getByText("Copied").first().waitFor();
const token = await clipboard();
match(token, /^[A-Za-z0-9_-]{43}$/);
ok(!(await html()).includes(token), "a copied token is not shown");
await page.getByRole("button", { name: "Copy the client secret" }).click();
await page.waitForFunction((before) => navigator.clipboard.readText().then((text) => text !== before), token);
const secret = await clipboard();
ok(!(await html()).includes(secret), "a copied secret is not shown");
await page.getByRole("button", { name: "Show the access token" }).click();
equal(await page.getByLabel("Access token to copy", { exact: true }).inputValue(), token);
await page.getByRole("button", { name: "Hide the access token" }).click();
equal(await page.locator(`input[value="${token}"]`).count(), 0);

// What stands there to be pasted works: the environment, and a first request in each language
const folder = mkdtempSync(join(tmpdir(), "snippets-"));
const snippet = async (language: string): Promise<string> => {
  await page.getByRole("button", { name: language, exact: true }).click();
  await page.evaluate(() => navigator.clipboard.writeText(""));
  await page.getByRole("button", { name: `Copy ${language}`, exact: true }).click();
  await page.waitForFunction(() => navigator.clipboard.readText().then((text) => text !== ""));
  return clipboard();
};
const environment = Object.fromEntries((await snippet(".env")).trim().split("\n").map((line) => {
  const at = line.indexOf("=");
  return [line.slice(0, at), line.slice(at + 1)];
}));
equal(environment.CLIENT_SECRET, secret);
ok(!(await html()).includes(secret), "the environment is copied with the secret, and shown without it");
const languages: [string, string, string | undefined][] = [
  ["Python", "first.py", PYTHON], ["TypeScript", "first.mts", process.execPath], ["Java", "FirstRequest.java", JAVA],
];
for (const [language, file, program] of languages) {
  writeFileSync(join(folder, file), await snippet(language));
  if (!program) {
    console.log(`${language} was not run: it is not installed`);
    continue;
  }
  const { stdout } = await promisify(execFile)(program, [join(folder, file)], { env: { ...env, ...environment } });
  equal(stdout.trim(), "200 40", language);
}
rmSync(folder, { recursive: true });
await show(page, "Requests");
await rows(page).filter({ hasText: "POST /oauth/token" }).first().waitFor();
await show(page, "Project");
await page.getByRole("button", { name: "Reset" }).click();
await page.getByText("The project is what it was at its beginning.").waitFor();

// The journal is empty and says what to do; the printed curl line makes its first entry
await page.getByRole("button", { name: "Copy the curl line with a token" }).click();
await page.waitForFunction(() => navigator.clipboard.readText().then((text) => text.startsWith("curl")));
const line = await clipboard();
await show(page, "Requests");
await page.getByRole("heading", { name: "No requests yet" }).waitFor();
await checkAccessibility(page, "requests, empty");
match(await runCurl(line), /^HTTP\/1.1 200/);
await rows(page).first().waitFor();
match(await rows(page).first().innerText(), /GET \/resource/);

// Order "503 twice"; the client tries again, and the page shows what differs
await show(page, "Rules");
await page.getByRole("switch", { name: /503 twice, then fine/ }).click();
await page.locator(".rules").getByText("matched 0, acted 0").waitFor();
const collection = `${BASE_URL}/${project}/resource`;
const draft = { key: "walk", objectTypeProperty: { arrayOfStringExample: ["dog"] } };
deepEqual([await send(collection, token, "POST", draft), await send(collection, token, "POST", draft), await send(collection, token, "POST", draft)], [503, 503, 201]);
await page.locator(".rules").getByText("matched 3, acted 2").waitFor();
await checkAccessibility(page, "rules");

// A rule of one's own: its fault stands beside it, where it is in the text; its members are a click away
const own = page.getByLabel("A rule of your own, as JSON");
const addRule = page.getByRole("button", { name: "Add the rule" });
for (const [text, reason, place] of [
  ['{"name": "wrong",\n "status": 99}', /field 'status'\. A number from 200/, "Line 2, column 2"],
  ['{"times": {"first": 0}, "status": 503}', /field 'times, first'\./, "Line 1, column 12"],
  ['{"status": 503,}', /^This is no JSON/, "Line 1, column 16"],
] as const) {
  await own.fill(text);
  await page.setViewportSize({ width: 390, height: 844 });
  await addRule.click();
  const fault = page.getByRole("alert");
  await fault.getByText(reason).waitFor();
  await fault.getByText(place).waitFor();
  await page.waitForFunction(() => {
    const box = document.querySelector("[role=alert]")!.getBoundingClientRect();
    return box.top >= 0 && box.bottom <= innerHeight;
  });
  equal(await own.getAttribute("aria-invalid"), "true");
}
await page.setViewportSize({ width: 1400, height: 900 });
await checkAccessibility(page, "rules, fault");
await own.fill("{}");
equal(await page.getByRole("alert").innerText(), "");
await page.getByText("Members of a rule").click();
await page.getByRole("button", { name: "status", exact: true }).click();
await page.getByRole("button", { name: "times", exact: true }).click();
deepEqual(JSON.parse(await own.inputValue()), { status: 503, times: { first: 2 } });
await page.getByRole("button", { name: "times", exact: true }).click(); // and taken away by a second one
await page.getByRole("button", { name: "match", exact: true }).click();
await checkAccessibility(page, "rules, members");
await addRule.click();
await page.locator(".rules").getByText("1: 503 · POST /resource").waitFor();
await page.getByRole("button", { name: /^Remove rule 1/ }).click();
await page.locator(".rules li").nth(1).waitFor({ state: "detached" });
await page.getByRole("switch", { name: /503 twice, then fine/ }).click();
await page.getByRole("heading", { name: "No rules" }).waitFor();
for (const usual of await page.getByRole("switch").all()) { // the service takes each of them
  await usual.click();
  await usual.and(page.locator('[aria-checked="true"]')).waitFor();
}
equal(await page.locator(".fault").count(), 0);
await page.getByRole("button", { name: "End all rules" }).click();
await page.getByRole("heading", { name: "No rules" }).waitFor();

await show(page, "Requests");
await page.getByRole("link", { name: "POST /resource" }).nth(1).click();
await page.getByRole("heading", { name: "A retry before Retry-After" }).waitFor();
await page.getByRole("heading", { name: "It repeats request 2" }).waitFor();
await page.getByRole("heading", { name: "Changed by a rule: 503 twice, then fine" }).waitFor();
await page.getByRole("link", { name: "POST /resource" }).first().click();
await page.locator("pre", { hasText: "HTTP/1.1 201" }).waitFor();
if (PICTURE) await page.screenshot({ path: PICTURE });
await checkAccessibility(page, "requests");
ok(!(await html()).includes(token), "the journal has no token");

// Keyboard: one Tab stop, arrows walk through the list, Escape closes
const entry = () => page.evaluate(() => new URLSearchParams(location.search).get("entry"));
const entryBecomes = (number: string | null) => page.waitForFunction((wanted) => new URLSearchParams(location.search).get("entry") === wanted, number);
equal(await page.locator('.list a[tabindex="0"]').count(), 1);
await rows(page).nth(0).getByRole("link").focus();
await page.keyboard.press("ArrowDown");
await entryBecomes("3");
await page.keyboard.press("End");
await entryBecomes("1");
await page.evaluate(async () => { // two keys before a paint
  for (const key of ["Home", "Escape"]) {
    document.activeElement?.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    await Promise.resolve();
  }
});
await entryBecomes(null);
await page.waitForFunction(() => document.activeElement?.getAttribute("data-entry") === "4");
equal(await page.locator('.list a[tabindex="0"]').count(), 1);

// The query tells rows apart, whole where nothing is picked
const where = 'arrayOfStringExample contains any ("dog", "cat") and version > 1';
const query = `where=${encodeURIComponent(where)}&sort=version%20desc&limit=5`;
equal(await send(`${collection}/sorted-query-parameters?${query}`, token), 200);
const long = rows(page).filter({ hasText: query }).getByRole("link");
await long.waitFor();
ok(await long.evaluate((link) => link.scrollHeight <= link.clientHeight), "the query is not cut");

// Copied as curl it is the same request; repeated, it is a new one, which the page shows
await rows(page).filter({ hasText: "GET /resource" }).last().getByRole("link").click();
await page.evaluate(() => navigator.clipboard.writeText(""));
await page.getByRole("button", { name: "Copy as curl" }).click();
await page.waitForFunction(() => navigator.clipboard.readText().then((text) => text.startsWith("curl")));
const curl = await clipboard();
ok(!curl.includes(token));
match((await promisify(execFile)("sh", ["-c", `${curl} -sS`], { env: { ...env, TOKEN: token } })).stdout, /^HTTP\/1.1 200/);
await page.waitForFunction(() => document.querySelectorAll(".list tbody tr").length === 6);
const odd = { method: "`PWD`", target: `/${project}/resource`, headers: [["X-Empty", ""]], body: { text: "@/etc/passwd" } };
const pasted = await page.evaluate(async (request) => (await import("/sandbox/page/repeat.js" as string)).curlOf({ request }) as string, odd);
await promisify(execFile)("sh", ["-c", `${pasted} -sS`], { env });
const shown = await page.evaluate(async (target) => {
  const { curlOf, whyNotCopied } = await import("/sandbox/page/repeat.js" as string);
  const request = (method: string, path: string, body?: object) => ({ request: { method, target: path, headers: [], body } });
  return [
    curlOf(request("POST", "/oauth/token", { text: "client_secret=(secret)" })).endsWith(`--data-raw 'client_secret='"$CLIENT_SECRET"''`),
    ...[["HEAD", target, { text: "a" }], ["GET", `http://other${target}`], ["GET", `${target}#a`], ["PUT", target, { text: "", truncated: true }], ["GET", target]]
      .map((each) => whyNotCopied(request(...(each as [string, string, object?])))),
  ];
}, odd.target);
deepEqual(shown, [true, "curl sends no body with HEAD.", ...Array(2).fill("curl would send another target."), "The journal has only the beginning of its body.", ""]);
const { results } = (await (await fetch(`${BASE_URL}/sandbox/projects/${project}/requests?limit=1`)).json()) as { results: { request: typeof odd }[] };
deepEqual([results[0]?.request.method, results[0]?.request.body.text], [odd.method, odd.body.text], "a shell and curl take neither for theirs");
ok(results[0]?.request.headers.some(([name]) => name === "X-Empty"));
await page.waitForFunction(() => document.querySelectorAll(".list tbody tr").length === 7);
await page.locator(".list").getByRole("link", { name: "POST /resource" }).first().click();
await page.getByRole("button", { name: "Repeat" }).click();
await entryBecomes("8");
await page.getByRole("region", { name: "Request and answer" }).getByText("POST").first().waitFor();
await page.locator(".facts").getByText("200").waitFor(); // its key was there already

// Narrow: a request takes the place of the list with its title in view, and Escape leads back to it
await page.setViewportSize({ width: 390, height: 500 });
await page.keyboard.press("Escape");
await entryBecomes(null);
await rows(page).last().getByRole("link").click();
const title = page.getByRole("heading", { name: "GET" }).first();
await title.waitFor();
const place = await title.boundingBox();
ok(place && place.y >= 0 && place.y + place.height <= 500, "the title is in view");
await page.keyboard.press("Escape");
await rows(page).last().getByRole("link").waitFor();
for (const view of ["Requests", "Rules", "Resources", "Report", "Project"]) {
  await show(page, view);
  const tab = page.locator(".tabs [aria-current]");
  await tab.getByText(view).waitFor();
  const box = await tab.boundingBox();
  ok(box && box.x >= 0 && box.x + box.width <= 390, `the tab ${view} is whole`);
}
await show(page, "Requests");
await page.setViewportSize({ width: 1400, height: 900 });

// Filters stand in the address, and a reload keeps them
await page.getByLabel("Only").selectOption("findings");
await page.waitForFunction(() => document.querySelectorAll(".list tbody tr").length === 2);
await page.reload();
await page.waitForFunction(() => document.querySelectorAll(".list tbody tr").length === 2);
await page.getByRole("button", { name: "Clear" }).click();

// Resources by a predicate: a wrong one has the service's message and a caret
await show(page, "Resources");
const where_ = page.getByRole("textbox", { name: "where" });
await where_.fill('key = "walk" and\nversion >> 1');
await page.getByRole("alert").getByText("(line 2, column 10):\nversion >> 1\n         ^").waitFor();
equal(await where_.getAttribute("aria-invalid"), "true");
await checkAccessibility(page, "resources, fault");
await where_.fill('key = "walk" and version >= 1');
await page.getByText("1 found").waitFor();
await page.locator(".cards button").first().click();
await page.locator('.cards pre:has-text("walk")').waitFor();
await checkAccessibility(page, "resources");

await show(page, "Project");

// Two days later the token has expired
await page.getByRole("button", { name: "+2 days" }).click();
await page.getByText("Two days later: tokens so far have expired.").waitFor();
equal(await send(collection, token), 401);
await page.getByRole("button", { name: "Real time" }).click();
await page.getByText("Real time.").waitFor();
equal(await send(collection, token), 200);

// The report
await show(page, "Report");
await page.getByRole("heading", { name: "Recovery" }).waitFor();
const row = page.getByRole("row", { name: /503: not available/ });
deepEqual(await row.getByRole("cell").allInnerTexts(), ["0", "0", "1", "0"]);
await checkAccessibility(page, "report");
await page.setViewportSize({ width: 390, height: 844 });
const recovery = page.getByRole("group", { name: "Table of recovery" });
ok(await recovery.evaluate((border) => (border.firstElementChild?.scrollWidth ?? 0) <= border.clientWidth), "the table is within its border");
await page.setViewportSize({ width: 1400, height: 900 });
// The connection breaks and comes back: nothing is lost
await show(page, "Requests");
let before = -1;
for (let drawn = await rows(page).count(); drawn !== before; drawn = await rows(page).count()) {
  before = drawn;
  await page.waitForTimeout(500);
}
isDown = true;
for (const socket of sockets) socket.destroy();
await page.getByRole("status").getByText("Reconnecting").waitFor();
equal(await send(collection, token), 200);
isDown = false;
await page.getByRole("status").getByText("Live").waitFor();
await page.waitForFunction((count) => document.querySelectorAll(".list tbody tr").length === count, before + 1);

// A thousand entries: one more is drawn within the time of a blink
for (let number = 0; number < 1000; number += 50) {
  await Promise.all(Array.from({ length: 50 }, () => send(`${collection}?limit=0`, token)));
}
await page.waitForFunction(() => document.querySelectorAll(".list tbody tr").length === 1000);
const tasks = await page.evaluate(async (url) => {
  const long: number[] = [];
  const observer = new PerformanceObserver((list) => long.push(...list.getEntries().map((entry) => entry.duration)));
  observer.observe({ type: "longtask" });
  const first = document.querySelector(".list tbody td")?.textContent;
  await fetch(url, { method: "HEAD" });
  while (document.querySelector(".list tbody td")?.textContent === first) await new Promise((resolve) => setTimeout(resolve, 20));
  observer.disconnect();
  return long;
}, `${ADDRESS}/${project}/resource?limit=0`);
console.log(`long tasks of a new entry among 1,000: ${tasks.map((each) => `${Math.round(each)} ms`).join(", ") || "none"}`);

// Nothing that the page keeps has a token or a secret
const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href]));
ok(!kept.includes(token) && !kept.includes(secret), kept);
ok(kept.includes(project));

// Remove the project: the page says what to do next
await show(page, "Project");
await page.getByRole("button", { name: "Remove the project" }).click();
await page.locator(".confirm").getByRole("button", { name: "Remove the project" }).click();
await page.getByRole("heading", { name: "What does your client do when answers fail?" }).waitFor();
await page.goto(`${ADDRESS}/sandbox?project=${project}`);
await page.getByRole("heading", { name: `There is no project ${project}` }).waitFor();
await page.getByRole("status").getByText("Gone").waitFor();
equal(await page.locator(".is-live").count(), 0);
await checkAccessibility(page, "gone");
await page.getByRole("link", { name: "All projects, and a new one" }).click();
await page.getByRole("button", { name: "Make a project" }).click();
await page.getByRole("heading", { name: "Credentials" }).waitFor();
await context.close();

// With SANDBOX_TOKEN it asks for the token, and keeps it nowhere
const guarded = await browser.newContext({ viewport: { width: 1400, height: 900 } });
const door = await open(guarded, TOKEN_URL);
await door.getByLabel("Token").fill("not the token of it");
await door.getByRole("button", { name: "Open" }).click();
await door.getByRole("alert").getByText("This is not the token").waitFor();
await checkAccessibility(door, "door");
await door.getByLabel("Token").fill(SANDBOX_TOKEN);
await door.getByRole("button", { name: "Open" }).click();
await door.getByRole("button", { name: "Make a project" }).click();
await door.getByRole("heading", { name: "Credentials" }).waitFor();
await door.locator(".live.is-live").waitFor();
ok(!(await door.content()).includes(SANDBOX_TOKEN));
const keptThere = await door.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href]));
ok(!keptThere.includes(SANDBOX_TOKEN));
await door.reload();
await door.getByLabel("Token").waitFor();

deepEqual(faults, []);
await browser.close();
relay.close();
