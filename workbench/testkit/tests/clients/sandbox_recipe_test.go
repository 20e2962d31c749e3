// A test of a client in Go, with the standard library alone: go test sandbox_recipe_test.go
//
// SAMPLE_RESOURCE_URL names a service whose sandbox is on, and SANDBOX_TOKEN its token, if it has one.
package sandbox

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"testing"
)

// Project is a throwaway project: the answer of POST /sandbox/projects.
type Project struct {
	t     *testing.T
	Key   string `json:"projectKey"`
	Token string `json:"accessToken"`
	URL   string `json:"-"`
}

// Request is an entry of the journal.
type Request struct {
	Request  struct{ Method, Target string }
	Response *struct{ Status int }
	Findings []struct{ Title, Detail, Instead string }
}

// NewProject makes a project, and removes it at the end of the test. A test that fails shows what its client sent.
func NewProject(t *testing.T, options map[string]any) *Project {
	project := &Project{t: t}
	project.order("POST", "/sandbox/projects", options, project)
	project.URL = server() + "/" + project.Key
	t.Cleanup(func() {
		if t.Failed() {
			for _, each := range project.Journal() {
				t.Log(each.Request.Method, each.Request.Target, each.Response, each.Findings)
			}
		}
		project.order("DELETE", "/sandbox/projects/"+project.Key, nil, nil)
	})
	return project
}

// Rules orders faults.
func (project *Project) Rules(rules ...map[string]any) {
	project.order("PUT", "/sandbox/projects/"+project.Key+"/rules", map[string]any{"rules": rules}, nil)
}

// Journal has the requests that the client sent, newest first.
func (project *Project) Journal() []Request {
	var found struct{ Results []Request }
	project.order("GET", "/sandbox/projects/"+project.Key+"/requests", nil, &found)
	return found.Results
}

func (project *Project) order(method, path string, body, answered any) {
	project.t.Helper()
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			project.t.Fatal(err)
		}
		content = bytes.NewReader(text)
	}
	request, err := http.NewRequest(method, server()+path, content)
	if err != nil {
		project.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	if token := os.Getenv("SANDBOX_TOKEN"); token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		project.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answered != nil {
		err = json.Unmarshal(text, answered)
	}
	if err != nil || answer.StatusCode >= 400 {
		project.t.Fatal(method, path, answer.Status, string(text), err)
	}
}

func server() string {
	return os.Getenv("SAMPLE_RESOURCE_URL")
}

// create is the client under test: it repeats a request whose answer was lost.
func create(project *Project, key string) (answer *http.Response, err error) {
	body, _ := json.Marshal(map[string]any{"key": key, "objectTypeProperty": map[string]any{}})
	for attempt := 0; attempt < 2; attempt++ {
		request, _ := http.NewRequest("POST", project.URL+"/resource", bytes.NewReader(body))
		request.Header.Set("Authorization", "Bearer "+project.Token)
		request.Header.Set("Content-Type", "application/json")
		if answer, err = http.DefaultClient.Do(request); err == nil {
			break
		}
	}
	return answer, err
}

func TestSurvivesALostAnswer(t *testing.T) {
	project := NewProject(t, map[string]any{"resources": 3})
	project.Rules(map[string]any{
		"match": map[string]any{"method": "POST"}, "times": map[string]any{"first": 1},
		"phase": "after", "connection": "close",
	})
	answer, err := create(project, "my-key")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var resource struct{ Version int }
	if err := json.NewDecoder(answer.Body).Decode(&resource); err != nil {
		t.Fatal(err)
	}
	if answer.StatusCode != 200 || resource.Version != 1 {
		t.Error("the repetition finds the resource, which was written once:", answer.Status, resource.Version)
	}
	if sent := project.Journal(); len(sent) != 2 || sent[0].Response.Status != 200 || sent[1].Response != nil {
		t.Error("two requests, of which the first one has no answer:", sent)
	}
}
