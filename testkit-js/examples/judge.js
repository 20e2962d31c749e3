import { writeFile } from "node:fs/promises";
import { startServer } from "sample-resource-testkit";

export default async function judge() {
  const server = await startServer();
  await writeFile("report.html", await server.reportAs("text/html"));
  const { findings } = await server.report();
  if (findings.length) {
    process.exitCode = 1; // vitest 4 prints an error of a teardown and ends with 0
    throw new Error(`the client has findings: ${findings.map(({ title }) => title).join(", ")}`);
  }
}
