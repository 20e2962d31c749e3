export default {
  globalSetup: "sample-resource-testkit/setup",
  globalTeardown: "../judge.js",
  maxWorkers: 2,
};
