// Chromium for the tests of pages, and what a page must never do.

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
