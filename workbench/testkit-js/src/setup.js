// For `globalSetup` of vitest: starts the server before the first test, so that none waits for it.

import { startServer } from "./index.js";

export default async function setup() {
  await startServer();
}
