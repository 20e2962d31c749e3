// Starts Swagger UI, and carries the id and the version of each answer over into the examples that need them.
"use strict";

const { root, document: described } = document.body.dataset;
const below = described.replace(/openapi\.json$/, ""); // the paths of the document, if it is that of an extension
const isFurther = below !== "/";
const project = "demo"; // of the examples, and of the client and the token that the service prints
const remembered = "sample-resource: last answer";

// The document of an extension may need a token itself, which may stand behind the # of the address: browsers send that
// part to nobody.
const token = isFurther ? new URLSearchParams(location.hash.slice(1)).get("token") : null;

// Swagger UI has dark colours, which a class switches on.
const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", follow);
follow();

const takesId = ["post", "get", "delete"].map((method) => ["/{projectKey}/resource/{id}", method]);
const takesVersion = [["/{projectKey}/resource/{id}", "post"], ["/{projectKey}/resource", "patch"]];
const answersResource = new RegExp(`^${root}/[^/]+/resource(/[^/]+)?$`);

const ui = SwaggerUIBundle({
  url: root + described,
  dom_id: "#swagger-ui",
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  persistAuthorization: true,
  tryItOutEnabled: !isFurther, // its examples would change what somebody uses
  validatorUrl: null,
  requestInterceptor: repeat,
  responseInterceptor: read,
  plugins: [withoutLinksInButtons],
  onComplete: () => {
    nameParts();
    if (isFurther) return;
    fillInForms();
    const last = sessionStorage.getItem(remembered);
    if (last) fillIn(JSON.parse(last));
  },
});

/** The path of an operation is a link inside the button that opens it, which no keyboard and no screen reader can tell apart. */
function withoutLinksInButtons({ React }) {
  const alone = (Link) => (properties) => React.createElement(Link, { ...properties, enabled: false });
  return { wrapComponents: { DeepLink: alone } };
}

/** What a screen reader needs, and Swagger UI leaves out: names of its parts, headings without gaps. */
function nameParts() {
  const names = { ".information-container section": "About", "section.schemes": "Server and authorization", "section.models": "Schemas", "#servers": "Server" };
  for (const [selector, name] of Object.entries(names)) document.querySelector(selector)?.setAttribute("aria-label", name);
  for (const heading of document.querySelectorAll(".info h3, .opblock-tag, .models h4")) heading.setAttribute("aria-level", "2");
}

/** A list for a parameter that is named by a pattern is sent as Swagger UI cannot: the parameter repeated. */
function repeat(request) {
  const lists = /(^|[?&])((?:var[.]|text[.])[^=&]+)=(%5B[^&]*)/g;
  const repeated = (text) => text.replace(lists, (whole, mark, name, json) => {
    try {
      return mark + JSON.parse(decodeURIComponent(json)).map((each) => `${name}=${encodeURIComponent(each)}`).join("&");
    } catch {
      return whole; // a text that begins with a bracket
    }
  });
  if (token && new URL(request.url, location.href).pathname.startsWith(root + below)) {
    request.headers.Authorization = `Bearer ${token}`;
  }
  request.url = repeated(request.url);
  if (typeof request.body === "string" && !request.body.startsWith("{")) request.body = repeated(request.body);
  return request;
}

function read(response) {
  const { pathname } = new URL(response.url, location.href);
  if (pathname === `${root}/openapi.json`) {
    // Scopes are for a project: those that the dialog offers, for that of the examples.
    const contract = JSON.parse(response.text.replaceAll(":{projectKey}", `:${project}`));
    // The page talks to the server that it comes from, by whichever name the reader knows it.
    contract.servers = [{ url: `${root}/`, description: "this server" }];
    const { clientCredentials } = contract.components.securitySchemes.clientCredentials.flows;
    clientCredentials.tokenUrl = `${root}/oauth/token`;
    response.text = JSON.stringify(contract);
  } else if (response.ok && answersResource.test(pathname)) {
    const { id, version, key } = response.body ?? {};
    if (id && version) {
      sessionStorage.setItem(remembered, JSON.stringify({ id, version, key }));
      fillIn({ id, version, key });
    }
  }
  return response;
}

/** Forms get the example of the document; Swagger UI would make up a text for every field. */
function fillInForms() {
  const described = ui.specSelectors.specJson();
  described.get("paths").forEach((operations, path) => operations.forEach((operation, method) => {
    const form = operation.getIn(["requestBody", "content", "application/x-www-form-urlencoded"]);
    if (!form) return;
    const schema = form.getIn(["schema", "$ref"]).split("/").slice(1);
    const values = described.getIn([...schema, "properties"]).map((property, name) => {
      const nothing = property.get("type") === "array" ? property.toList().clear() : "";
      const value = form.getIn(["example", name], nothing);
      return property.get("type") === "object" ? JSON.stringify(value, null, 2) : value;
    });
    for (const name of values.keys()) { // Swagger UI takes one at a time
      setBody([path, method], values.filter((_, each) => each === name));
      ui.oas3Actions.setRequestBodyInclusion({ pathMethod: [path, method], name, value: false }); // of an empty value
    }
  }));
}

function fillIn({ id, version, key }) {
  const described = ui.specSelectors.specJson();
  for (const [path, method] of takesId) {
    const parameters = described.getIn(["paths", path, method, "parameters"]);
    const parameter = parameters.find((each) => each.get("name") === "id");
    ui.specActions.changeParamByIdentity([path, method], parameter, id);
  }
  for (const [path, method] of takesVersion) {
    const example = described.getIn(["paths", path, method, "requestBody", "content", "application/json", "example"]);
    try {
      const body = JSON.parse(ui.oas3Selectors.requestBodyValue(path, method) ?? JSON.stringify(example));
      if (body.key) body.key = key;
      setBody([path, method], JSON.stringify({ ...body, version }, null, 2));
    } catch {
      // Somebody is in the middle of writing that body.
    }
  }
}

function setBody(pathMethod, value) {
  ui.oas3Actions.setRequestBodyValue({ value, pathMethod });
  ui.oas3Actions.setRetainRequestBodyValueFlag({ value: true, pathMethod }); // when the operation is opened
}
