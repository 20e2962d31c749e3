// A test of a client in Java 17, without any library: java SandboxRecipe.java
//
// SAMPLE_RESOURCE_URL names a service whose sandbox is on, and SANDBOX_TOKEN its token, if it has one.

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

public class SandboxRecipe {

    static final HttpClient HTTP = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    /** A throwaway project: the answer of POST /sandbox/projects. */
    static class Project implements AutoCloseable {

        static final String SERVER = System.getenv("SAMPLE_RESOURCE_URL");

        final String key;
        final String url;
        final String token;

        Project(String options) throws IOException, InterruptedException {
            String made = order("POST", "/sandbox/projects", options);
            key = field(made, "projectKey");
            url = SERVER + "/" + key;
            token = field(made, "accessToken");
        }

        void rules(String rules) throws IOException, InterruptedException {
            order("PUT", "/sandbox/projects/" + key + "/rules", "{\"rules\": " + rules + "}");
        }

        /** The requests that the client sent, newest first, as JSON. */
        String journal() throws IOException, InterruptedException {
            return order("GET", "/sandbox/projects/" + key + "/requests", null);
        }

        @Override
        public void close() throws IOException, InterruptedException {
            order("DELETE", "/sandbox/projects/" + key, null);
        }

        static String order(String method, String path, String body) throws IOException, InterruptedException {
            HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(SERVER + path))
                .header("Content-Type", "application/json")
                .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
            String token = System.getenv("SANDBOX_TOKEN");
            if (token != null && !token.isEmpty()) {
                request.header("Authorization", "Bearer " + token);
            }
            HttpResponse<String> answer = HTTP.send(request.build(), BodyHandlers.ofString());
            if (answer.statusCode() >= 400) {
                throw new IOException(method + " " + path + " was answered " + answer.statusCode() + ": " + answer.body());
            }
            return answer.body();
        }

        static String field(String json, String name) {
            Matcher found = Pattern.compile("\"" + name + "\": *\"([^\"]*)\"").matcher(json);
            if (!found.find()) {
                throw new IllegalStateException(name + " is not in " + json);
            }
            return found.group(1);
        }
    }

    /** The client under test: it repeats a request whose answer was lost. */
    static HttpResponse<String> create(Project project, String key) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(project.url + "/resource"))
            .header("Authorization", "Bearer " + project.token)
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString("{\"key\": \"" + key + "\", \"objectTypeProperty\": {}}"))
            .build();
        try {
            return HTTP.send(request, BodyHandlers.ofString());
        } catch (IOException lost) {
            return HTTP.send(request, BodyHandlers.ofString());
        }
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        try (Project project = new Project("{\"resources\": 3}")) {
            project.rules("[{\"match\": {\"method\": \"POST\"}, \"times\": {\"first\": 1}, \"phase\": \"after\", \"connection\": \"close\"}]");
            HttpResponse<String> answer = create(project, "my-key");
            check(answer.statusCode() == 200, "the repetition finds the resource: " + answer.body());
            check(answer.body().contains("\"version\":1"), "it was written once: " + answer.body());
            String journal = project.journal();
            check(journal.split("\"operationId\": *\"createOrUpdateResource\"", -1).length - 1 == 2, "two requests: " + journal);
        }
        System.out.println("ok");
    }

    static void check(boolean holds, String expectation) {
        if (!holds) {
            throw new AssertionError(expectation);
        }
    }
}
