import { writeFile } from "node:fs/promises";
import { startServer } from "sample-resource-testkit";

export default async function judge() {
  const server = await startServer();
  await writeFile("report.html", await server.reportAs("text/html"));
  const { gate } = await server.report({ noFindings: true });
  if (!gate.passed) {
    console.error(gate.told);
    process.exitCode = 1;
  }
}
