import { defineConfig } from "vitest/config";

export default defineConfig({
  test: { globalSetup: ["sample-resource-testkit/setup", "./after.ts"], maxWorkers: 2 },
});
