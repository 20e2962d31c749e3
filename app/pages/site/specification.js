// The search of the specification: shows the clauses that have all words. What is looked for stands in the address.

const form = document.querySelector(".search");
const field = form.querySelector("input");
const count = form.querySelector("output");
const how = document.querySelector(".how");

const clauses = [...document.querySelectorAll("article")].map((element) => ({ element, text: element.textContent.toLowerCase() }));

/** Each theme with its heading, its link beside the text, and its clauses. */
const themes = [...document.querySelectorAll("h2[id]")].map((heading) => ({
  heading,
  link: document.querySelector(`.themes a[href="#${CSS.escape(heading.id)}"]`)?.parentElement,
  clauses: [],
}));
for (const { element } of clauses) {
  const above = themes.findLast(({ heading }) => heading.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING);
  above.clauses.push(element);
}

function search() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const { element, text } of clauses) element.hidden = !words.every((word) => text.includes(word));
  for (const { heading, link, clauses } of themes) {
    heading.hidden = clauses.every((each) => each.hidden);
    if (link) link.hidden = heading.hidden;
  }
  how.hidden = words.length > 0;
  const found = clauses.filter(({ element }) => !element.hidden).length;
  count.textContent = words.length ? (found === 1 ? "1 clause" : `${found || "No"} clauses`) : "";
}

function remember() {
  const address = new URL(location);
  if (field.value.trim()) address.searchParams.set("q", field.value.trim());
  else address.searchParams.delete("q");
  history.replaceState(null, "", address);
}

/** Shows all again if a link leads to what the search hides. */
function showTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target?.hidden) return;
  field.value = "";
  search();
  remember();
  target.scrollIntoView();
}

form.hidden = false;
field.value = new URLSearchParams(location.search).get("q") ?? "";
search();
field.addEventListener("input", () => {
  search();
  remember();
});
form.addEventListener("submit", (event) => event.preventDefault());
addEventListener("hashchange", showTarget);
showTarget();
