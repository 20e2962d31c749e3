import { writeFile } from "node:fs/promises";
import { startServer } from "sample-resource-testkit";

export default async function judge() {
  try {
    const server = await startServer();
    await writeFile("report.html", await server.reportAs("text/html"));
    const { gate } = await server.report({ noFindings: true });
    if (gate.passed) return;
    console.error(gate.told);
  } catch (error) {
    console.error(`no report on the client: ${error.message}`);
  }
  process.exitCode = 1;
}
