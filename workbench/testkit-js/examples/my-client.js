// The client under test: it repeats a request that was not answered, or that a busy server refused.

export class MyClient {
  /**
   * @param {string} url of the project
   * @param {string} token
   */
  constructor(url, token) {
    this.url = url;
    this.headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  }

  /** @param {string} key */
  async create(key) {
    return await this.#send("POST", "/resource", JSON.stringify({ key, objectTypeProperty: {} }));
  }

  /** @param {number} limit */
  async list(limit) {
    return await this.#send("GET", `/resource?limit=${limit}`);
  }

  /**
   * @param {string} method
   * @param {string} target
   * @param {string} [body]
   * @returns {Promise<any>}
   */
  async #send(method, target, body) {
    for (let attempt = 1; ; attempt += 1) {
      const request = fetch(`${this.url}${target}`, { method, headers: this.headers, ...(body && { body }) });
      const answer = await request.catch((error) => {
        if (attempt === 3) throw error;
      });
      if (answer && (answer.status !== 503 || attempt === 3)) return await answer.json();
      const seconds = Number(answer?.headers.get("Retry-After") ?? 0);
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    }
  }
}
