// The page of the sandbox in a browser: the whole walk of a person who debugs a client, and what must never happen there.

import http from "node:http";
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { env } from "node:process";
import { promisify } from "node:util";
import { type BrowserContext, type Page } from "playwright-core";
import { launch, watch } from "./browser.ts";

const { BASE_URL = "", TOKEN_URL = "", SANDBOX_TOKEN = "", CHROMIUM = "", PICTURE } = env;

const axe = readFileSync(new URL("node_modules/axe-core/axe.min.js", import.meta.url), "utf8");

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

type Violation = { id: string; impact: string; nodes: { html: string; failureSummary: string }[] };

/** Every rule of axe, in both colour schemes and both widths. Its script does not pass the page's policy, so it is evaluated. */
async function checkAccessibility(page: Page, view: string): Promise<void> {
  for (const [colorScheme, width] of [["light", 1400], ["dark", 390]] as const) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 900 });
    await page.evaluate(axe);
    const violations: Violation[] = await page.evaluate("axe.run().then((found) => found.violations)");
    deepEqual(violations.map(({ id, nodes }) => [view, colorScheme, id, nodes.map((node) => `${node.html} ${node.failureSummary}`)]), []);
    const overflows = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
    equal(overflows, false, `${view} is wider than ${width}`);
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 1400, height: 900 });
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
ok(!(await html()).includes("eyJ"));
await page.getByRole("button", { name: "Copy the access token" }).click();
await page.getByText("Copied").first().waitFor();
const token = await clipboard();
match(token, /^eyJ/);
ok(!(await html()).includes("eyJ"), "a copied token is not shown");
await page.getByRole("button", { name: "Copy the client secret" }).click();
await page.waitForFunction((before) => navigator.clipboard.readText().then((text) => text !== before), token);
const secret = await clipboard();
ok(!(await html()).includes(secret), "a copied secret is not shown");
await page.getByRole("button", { name: "Show" }).last().click();
equal(await page.getByLabel("Access token to copy", { exact: true }).inputValue(), token);
await page.getByRole("button", { name: "Hide" }).click();
equal(await page.locator(`input[value="${token}"]`).count(), 0);

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
await page.getByLabel("A rule of your own, as JSON").fill('{"status": 99}');
await page.getByRole("button", { name: "Add the rule" }).click();
await page.getByRole("alert").getByText("rules -> 1 -> status").first().waitFor();
await page.getByRole("switch", { name: /503 twice, then fine/ }).click();
await page.getByRole("heading", { name: "No rules" }).waitFor();
for (const usual of await page.getByRole("switch").all()) { // the service takes each of them
  await usual.click();
  await usual.and(page.locator('[aria-checked="true"]')).waitFor();
}
equal(await page.getByRole("alert").count(), 0);
await page.getByRole("button", { name: "End all rules" }).click();
await page.getByRole("heading", { name: "No rules" }).waitFor();

await show(page, "Requests");
await page.getByRole("link", { name: "POST /resource" }).nth(1).click();
await page.getByRole("heading", { name: "A retry before Retry-After" }).waitFor();
await page.getByRole("heading", { name: "It repeats request 2" }).waitFor();
await page.getByRole("heading", { name: "Changed by the rule 503 twice, then fine" }).waitFor();
await page.getByRole("link", { name: "POST /resource" }).first().click();
await page.locator("pre .added", { hasText: "HTTP/1.1 201" }).waitFor();
await page.locator("pre .removed", { hasText: "HTTP/1.1 503" }).waitFor();
if (PICTURE) await page.screenshot({ path: PICTURE });
await checkAccessibility(page, "requests");
ok(!(await html()).includes(token), "the journal has no token");

// Keyboard: the arrows walk through the list
await rows(page).nth(0).getByRole("link").focus();
await page.keyboard.press("ArrowDown");
await page.waitForFunction(() => new URLSearchParams(location.search).get("entry") === "3");

// Filters stand in the address, and a reload keeps them
await page.getByLabel("Only").selectOption("findings");
await page.waitForFunction(() => document.querySelectorAll(".list tbody tr").length === 2);
await page.reload();
await page.waitForFunction(() => document.querySelectorAll(".list tbody tr").length === 2);
await page.getByRole("button", { name: "Clear" }).click();

// Resources with facets
await show(page, "Resources");
const facet = page.getByRole("group", { name: "arrayOfStringExample" });
const dog = facet.locator("label", { hasText: /^\s*dog/ });
await dog.waitFor();
const counted = Number((await dog.innerText()).match(/\d+$/)?.[0]);
await dog.getByRole("checkbox").check();
await page.getByText(new RegExp(`^${counted} found$`)).waitFor();
await page.locator(".cards button").first().click();
await page.locator('.cards pre:has-text("dog")').waitFor();
await checkAccessibility(page, "resources");

// The playground: a wrong predicate with its caret, a right one with its explanation and its answer
await show(page, "Playground");
const expression = page.getByRole("textbox", { name: "Expression" });
await expression.fill('key = "walk" and\nversion >> 1');
await page.getByText("Line 2, column 10").waitFor();
equal(await page.locator("mark").innerText(), ">");
equal(await expression.getAttribute("aria-invalid"), "true");
await checkAccessibility(page, "playground, fault");
await expression.fill('key = "walk" and version >= 1');
await page.getByText("index resource_key_unique").waitFor();
await page.getByText("index resource_version").waitFor();
await page.getByText(/^SQL/).click();
await page.getByText(/^WITH/).waitFor();
await page.getByRole("button", { name: "Run it" }).click();
await page.getByRole("heading", { name: "1 found" }).waitFor();
await checkAccessibility(page, "playground");
await page.getByRole("button", { name: "facet", exact: true }).click();
await page.getByText("It is understood.").waitFor();
await page.getByRole("button", { name: "Run it" }).click();
await page.getByText('"type": "range"').waitFor();

// Snapshots: what is deleted comes back
await show(page, "Project");
await page.getByLabel("Name").fill("before");
await page.getByRole("button", { name: "Save a snapshot" }).click();
await page.getByRole("button", { name: "Restore before" }).waitFor();
const read = await fetch(`${collection}/key=walk`, { headers: { Authorization: `Bearer ${token}` } });
const { id } = (await read.json()) as { id: string };
equal(await send(`${collection}/${id}`, token, "DELETE"), 200);
equal(await send(`${collection}/key=walk`, token), 404);
await page.getByRole("button", { name: "Restore before" }).click();
await page.getByText("The project holds what it held at before.").waitFor();
equal(await send(`${collection}/key=walk`, token), 200);

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
deepEqual(await row.getByRole("cell").allInnerTexts(), ["0", "0", "1"]);
await checkAccessibility(page, "report");
const [saved] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save the report as a page" }).click()]);
equal(saved.suggestedFilename(), `${project}-report.html`);
const report = await context.newPage();
await report.setContent(readFileSync(await saved.path(), "utf8"));
await checkAccessibility(report, "the saved report");
await report.close();

// The connection breaks and comes back: nothing is lost
await show(page, "Requests");
const before = await rows(page).count();
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
ok(!kept.includes("eyJ") && !kept.includes(secret), kept);
ok(kept.includes(project));

// Remove the project: the page says what to do next
await show(page, "Project");
await page.getByRole("button", { name: "Remove the project" }).click();
await page.locator(".confirm").getByRole("button", { name: "Remove the project" }).click();
await page.getByRole("heading", { name: "What does your client do when answers fail?" }).waitFor();
await page.goto(`${ADDRESS}/sandbox?project=${project}`);
await page.getByRole("heading", { name: `There is no project ${project}` }).waitFor();
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
await door.getByRole("button", { name: "New project" }).click();
await door.getByRole("heading", { name: "Credentials" }).waitFor();
await door.locator(".live.live").waitFor();
ok(!(await door.content()).includes(SANDBOX_TOKEN));
const keptThere = await door.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href]));
ok(!keptThere.includes(SANDBOX_TOKEN));
await door.reload();
await door.getByLabel("Token").waitFor();

deepEqual(faults, []);
await browser.close();
relay.close();
