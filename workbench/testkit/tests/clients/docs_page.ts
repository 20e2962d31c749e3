// The documentation page in a browser: it loads nothing from other hosts, and every example on it succeeds.

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { env } from "node:process";
import { type Locator, type Page } from "playwright-core";
import { launch, watch } from "./browser.ts";

const { BASE_URL = "", CLIENT_ID = "", CLIENT_SECRET = "", TOKEN = "", CHROMIUM = "", SCREENSHOT } = env;

const browser = await launch(CHROMIUM);

/** Errors, warnings, and requests to other hosts. */
const faults: string[] = [];

async function open(): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 1060 } });
  page.setDefaultTimeout(60_000);
  watch(page, faults, [`${BASE_URL}/`, "data:"]);
  await page.goto(`${BASE_URL}/docs`);
  await page.locator(".opblock").first().waitFor();
  return page;
}

/** Authorize with the security scheme at this position of the dialog. */
async function authorize(page: Page, position: number, ...fields: string[]): Promise<void> {
  await page.locator("button.authorize").click();
  const container = page.locator(".auth-container").nth(position);
  const inputs = container.locator("input:not([type=checkbox])");
  for (const [index, text] of fields.entries()) await inputs.nth(index).fill(text);
  const all = container.getByText("select all");
  if (await all.count()) await all.click();
  await container.getByRole("button", { name: "Apply credentials" }).or(container.locator("button.authorize")).first().click();
  await container.getByText("Logout").waitFor();
  await page.locator(".btn-done").first().click();
}

/** Execute an operation with its example values, and return the status of the answer. */
async function execute(operation: Locator): Promise<number> {
  await operation.locator(".opblock-summary-control").click();
  const [answer] = await Promise.all([
    operation.page().waitForResponse((response) => response.request().resourceType() === "fetch"),
    operation.locator("button.execute").click(),
  ]);
  const shown = operation.locator(".live-responses-table .response-col_status").filter({ hasText: `${answer.status()}` });
  await shown.first().waitFor();
  const isForm = answer.request().headers()["content-type"]?.startsWith("application/x-www-form-urlencoded");
  if (isForm) equal(new URL(answer.url()).search, "", "a field of the form is in the query string, too");
  await operation.locator(".opblock-summary-control").click();
  return answer.status();
}

const page = await open();
equal(await page.title(), "Resource API - Sample Resource");
if (SCREENSHOT) await page.screenshot({ path: SCREENSHOT });

await authorize(page, 0, CLIENT_ID, CLIENT_SECRET);
await authorize(page, 1, CLIENT_ID, CLIENT_SECRET);

const answers: Record<string, number> = {};
for (const operation of await page.locator(".opblock").all()) {
  const id = await operation.getAttribute("id");
  answers[`${id}`] = await execute(operation);
}
const refused = Object.entries(answers).filter(([, status]) => !(status >= 200 && status < 300));
deepEqual(refused, []);
ok(Object.keys(answers).length >= 19);

// The delete below needs the id of this new resource.
const create = page.locator("#operations-Resource-createOrUpdateResource");
const remove = page.locator("#operations-Resource-deleteResourceById");
equal(await execute(create), 201);

// The page keeps the authorization and the last answer over a reload.
await page.reload();
await page.locator(".opblock").first().waitFor();
equal(await execute(remove), 200);

// Authorize with a pasted token.
await page.evaluate(() => localStorage.clear());
await page.reload();
await page.locator(".opblock").first().waitFor();
equal(await execute(create), 401);
await authorize(page, 2, TOKEN);
equal(await execute(create), 201);
equal(await execute(remove), 200);

// The browser logs the 401 above; nothing else may be logged.
match(faults.shift() ?? "", /401/);
deepEqual(faults, []);
await browser.close();
