// The address of the service is that of the client which is used; see adapter.mjs.
export default {
  service: {
    input: "../../../../docs/openapi.json",
    output: { target: "../generated/orval/api.ts", client: "fetch", baseUrl: { runtime: "globalThis.serviceUrl" } },
  },
};
