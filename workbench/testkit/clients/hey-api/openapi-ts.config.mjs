// Node.js reads TypeScript as it is, if imports name whole files.
export default {
  input: "../../../docs/openapi.json",
  output: { path: "generated/hey-api", module: { extension: ".ts" } },
};
