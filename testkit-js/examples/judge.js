import { writeFile } from "node:fs/promises";
import { startServer } from "sample-resource-testkit";

export default async function judge() {
  const server = await startServer();
  await writeFile("report.html", await server.reportAs("text/html"));
  const { findings } = await server.report();
  if (findings.length) throw new Error(`the client has findings: ${findings.map(({ title }) => title).join(", ")}`);
}
