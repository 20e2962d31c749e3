// Chromium for the tests of pages, and what a page must never do.

import { deepEqual, equal } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { getuid } from "node:process";
import { chromium, type Browser, type Page } from "playwright-core";

export function launch(executablePath: string): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      ...(getuid?.() === 0 ? ["--no-sandbox"] : []), // Chromium does not start as root with its sandbox
    ],
  });
}

/** Adds to `faults`: errors, warnings, and requests to addresses that do not begin with one of these. */
export function watch(page: Page, faults: string[], addresses: string[], expected?: RegExp): void {
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type()) && !expected?.test(message.text())) faults.push(`console: ${message.text()}`);
  });
  page.on("request", (request) => {
    const url = request.url();
    if (!addresses.some((address) => url.startsWith(address))) faults.push(`request to ${url}`);
  });
}

const axe = readFileSync(new URL("node_modules/axe-core/axe.min.js", import.meta.url), "utf8");

type Violation = { id: string; impact: string; nodes: { html: string; failureSummary: string }[] };

/** Every rule of axe, and nothing wider than the window. Its script does not pass the page's policy, so it is evaluated. */
export async function checkView(page: Page, view: string): Promise<void> {
  await page.evaluate(axe);
  const violations: Violation[] = await page.evaluate("axe.run().then((found) => found.violations)");
  deepEqual(violations.map(({ id, nodes }) => [view, id, nodes.map((node) => `${node.html} ${node.failureSummary}`)]), []);
  equal(await page.evaluate("document.documentElement.scrollWidth > innerWidth"), false, `${view} is wider than the window`);
}

/** The widths and colours in which pages have to be right. */
export const MODES = [["light", 1280], ["dark", 1280], ["dark", 390], ["light", 390]] as const;

/** The same in all modes. */
export async function checkAccessibility(page: Page, view: string): Promise<void> {
  const before = page.viewportSize() ?? { width: 1280, height: 900 };
  for (const [colorScheme, width] of MODES) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 900 });
    await checkView(page, `${view}, ${colorScheme}, ${width}`);
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize(before);
}
