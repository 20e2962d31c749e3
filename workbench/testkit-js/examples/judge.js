import { startServer } from "sample-resource-testkit";

export default async function judge() {
  try {
    const { passed, told } = await (await startServer()).verdict();
    console.log(told);
    if (passed) return;
  } catch (error) {
    console.error(`no verdict on the clients: ${error.message}`);
  }
  process.exitCode = 1;
}
