// The first request of a client in several languages. They read the environment, so that no secret stands in code.

export const environment = ({ base, project, clientId, secret }) => `BASE_URL=${base}
PROJECT=${project}
TOKEN_URL=${base}/oauth/token
CLIENT_ID=${clientId ?? "of the answer that made the project"}
CLIENT_SECRET=${secret ?? "of the same answer"}
`;

const PYTHON = `import os

import httpx

env = os.environ
grant = httpx.post(
    env["TOKEN_URL"],
    auth=(env["CLIENT_ID"], env["CLIENT_SECRET"]),
    data={"grant_type": "client_credentials"},
)
token = grant.raise_for_status().json()["access_token"]

with httpx.Client(
    base_url=f"{env['BASE_URL']}/{env['PROJECT']}",
    headers={"Authorization": f"Bearer {token}"},
) as client:
    answer = client.get("/resource", params={"limit": 5})
    print(answer.status_code, answer.json()["total"])
`;

const TYPESCRIPT = `const { BASE_URL, PROJECT, TOKEN_URL, CLIENT_ID, CLIENT_SECRET } = process.env;

const grant = await fetch(TOKEN_URL!, {
  method: "POST",
  headers: { Authorization: \`Basic \${btoa(\`\${CLIENT_ID}:\${CLIENT_SECRET}\`)}\` },
  body: new URLSearchParams({ grant_type: "client_credentials" }),
});
const { access_token } = (await grant.json()) as { access_token: string };

const answer = await fetch(\`\${BASE_URL}/\${PROJECT}/resource?limit=5\`, {
  headers: { Authorization: \`Bearer \${access_token}\` },
});
console.log(answer.status, ((await answer.json()) as { total: number }).total);
`;

const JAVA = String.raw`import java.net.URI;
import java.net.http.*;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.*;

public class FirstRequest {
  public static void main(String[] arguments) throws Exception {
    Map<String, String> env = System.getenv();
    HttpClient client = HttpClient.newHttpClient();
    String pair = env.get("CLIENT_ID") + ":" + env.get("CLIENT_SECRET");
    HttpRequest grant = HttpRequest.newBuilder(URI.create(env.get("TOKEN_URL")))
        .header("Authorization", "Basic " + Base64.getEncoder().encodeToString(pair.getBytes()))
        .header("Content-Type", "application/x-www-form-urlencoded")
        .POST(HttpRequest.BodyPublishers.ofString("grant_type=client_credentials")).build();
    String granted = client.send(grant, BodyHandlers.ofString()).body();
    String token = granted.replaceAll("(?s).*\"access_token\"\\s*:\\s*\"([^\"]+)\".*", "$1");

    URI list = URI.create(env.get("BASE_URL") + "/" + env.get("PROJECT") + "/resource?limit=5");
    HttpRequest read = HttpRequest.newBuilder(list).header("Authorization", "Bearer " + token).build();
    HttpResponse<String> answer = client.send(read, BodyHandlers.ofString());
    System.out.println(answer.statusCode() + " " + answer.body().replaceAll("(?s).*\"total\"\\s*:\\s*(\\d+).*", "$1"));
  }
}
`;

/** By language; the environment is made of what is known. */
export const SNIPPETS = { ".env": "", Python: PYTHON, TypeScript: TYPESCRIPT, Java: JAVA };
