// commercetools-mock as a server. It has no type like the service's resources, so it gets categories of the same size.
// Arguments: the port, and a file with an array of [id, key, text].
import { readFileSync } from "node:fs";
import { CommercetoolsMock } from "@labdigital/commercetools-mock";

const [port, file] = process.argv.slice(2);
const mock = new CommercetoolsMock({ silent: true, strict: true });
const project = mock.project("bench");
const now = new Date().toISOString();

for (const [id, key, text] of JSON.parse(readFileSync(file, "utf8"))) {
  await project.unsafeAdd("category", {
    id,
    version: 1,
    createdAt: now,
    lastModifiedAt: now,
    key,
    name: { en: key },
    slug: { en: key },
    description: { en: text },
    orderHint: "0.5",
    externalId: key,
    ancestors: [],
    assets: [],
  });
}

await mock.app.listen({ port: Number(port), host: "127.0.0.1" });
process.on("SIGTERM", () => process.exit(0));
