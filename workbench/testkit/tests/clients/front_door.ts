// The front door in a browser: from the page at the root to sandbox, specification and documents and back, by the header.

import { equal, deepEqual, match, ok } from "node:assert/strict";
import { env } from "node:process";
import { type Page, type Response } from "playwright-core";
import { checkView, launch, MODES, watch } from "./browser.ts";

const { BASE_URL = "", CHROMIUM = "" } = env;

const HEIGHT = 844; // of a telephone

const browser = await launch(CHROMIUM);
const faults: string[] = [];

const heading = (page: Page, name: string | RegExp) => page.getByRole("heading", { name, level: 1 }).waitFor();

/** Follows a link of the header, and looks at the page that it leads to. */
async function follow(page: Page, name: string, path: string, mode: string): Promise<void> {
  const site = page.getByRole("navigation", { name: "Site" });
  const link = site.getByRole("link", { name, exact: true });
  const box = await link.boundingBox();
  ok(box && box.x >= 0 && box.x + box.width <= (page.viewportSize()?.width ?? 0), `${name} is in view, ${mode}`);
  equal(await link.getAttribute("href"), path);
  const isPage = (each: Response) => each.request().isNavigationRequest();
  const [answer] = await Promise.all([page.waitForResponse(isPage), link.click()]);
  match(answer.headers()["content-security-policy"] ?? "", /^default-src 'none'/);
  equal(new URL(page.url()).pathname + new URL(page.url()).search, path);
  equal(await site.locator('[aria-current="page"]').innerText(), name);
}

for (const [colorScheme, width] of MODES) {
  const mode = `${colorScheme}, ${width}`;
  const page = await browser.newPage({ colorScheme, viewport: { width, height: HEIGHT } });
  page.setDefaultTimeout(60_000);
  watch(page, faults, [`${BASE_URL}/`, "data:"]);
  const background = () => page.evaluate("getComputedStyle(document.documentElement).backgroundColor");
  const isDark = async () => Number(/\d+/.exec(`${await background()}`)?.[0]) < 128;

  await page.goto(`${BASE_URL}/`);
  await heading(page, /commercetools/);
  equal(await isDark(), colorScheme === "dark", mode);
  await checkView(page, `front, ${mode}`);

  await follow(page, "Sandbox", "/sandbox", mode);
  await heading(page, "Sandbox");
  await page.getByRole("heading", { name: "What does your client do when answers fail?" }).waitFor();
  await checkView(page, `sandbox, ${mode}`);

  await follow(page, "Specification", "/docs/specification", mode);
  await heading(page, "Specification");
  const first = await page.locator("article").first().boundingBox();
  ok(first && first.y + first.height <= HEIGHT, `the first clause is in view, ${mode}`);
  await checkView(page, `specification, ${mode}`);
  const clauses = await page.locator("article").count();
  const search = page.getByRole("searchbox", { name: "Search the clauses" });
  await search.fill("if-match 412");
  await page.getByText(/^\d+ clauses?$/).waitFor();
  const found = await page.locator("article:visible").allInnerTexts();
  ok(found.length > 0 && found.length < clauses / 4);
  ok(found.every((text) => /if-match/i.test(text) && text.includes("412")));
  equal(await page.locator("h2:visible").count(), await page.locator(".themes li:visible").count());
  await page.reload(); // the address keeps what is looked for
  equal(await page.locator("article:visible").count(), found.length);
  await search.fill("no clause has this");
  await page.getByText("No clauses").waitFor();
  await page.evaluate("location.hash = '#4.10-3'"); // a link to a clause that the search hides shows it
  await page.locator('[id="4.10-3"]').waitFor();
  equal(await page.locator("article:visible").count(), clauses);

  await follow(page, "Resource API", "/docs", mode);
  await page.locator(".opblock").first().waitFor();
  equal(await isDark(), colorScheme === "dark", mode);
  await checkView(page, `Resource API, ${mode}`);

  await follow(page, "Sandbox API", "/docs?document=sandbox", mode);
  await page.locator("#operations-tag-Projects").waitFor();
  await checkView(page, `Sandbox API, ${mode}`);

  await page.getByRole("link", { name: "Sample Resource", exact: true }).click();
  await heading(page, /commercetools/);
  equal(new URL(page.url()).pathname, "/");
  for (const name of ["Sandbox", "Specification", "Resource API"]) { // its own links lead there too
    await page.getByRole("main").getByRole("link", { name, exact: true }).click();
    await page.getByRole("navigation", { name: "Site" }).locator('[aria-current="page"]', { hasText: name }).waitFor();
    await page.goBack();
  }
  await page.close();
}

// Without JavaScript the specification is whole, and has no field that does nothing
const plain = await browser.newPage({ javaScriptEnabled: false });
await plain.goto(`${BASE_URL}/docs/specification`);
equal(await plain.getByRole("searchbox").count(), 0);
ok(await plain.locator("article").first().isVisible());

deepEqual(faults, []);
await browser.close();
