export { default as teardown } from "../judge.js";
