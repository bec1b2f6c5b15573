// The frame: where we are, and the pages.

import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { getProject, type Project } from "./api";
import { findJobs, JobList } from "./job";
import { Notice } from "./parts";
import { enter } from "./session";
import { Values } from "./values";
import { CheckPage } from "./pages/check";
import { DataPage } from "./pages/data";
import { HierarchiesPage } from "./pages/hierarchies";
import { LookPage } from "./pages/look";
import { PolicyPage } from "./pages/policy";
import { ProjectPage } from "./pages/project";
import { PublishPage } from "./pages/publish";
import { ResultPage } from "./pages/result";
import { TradeoffPage } from "./pages/tradeoff";
import { WhoPage } from "./pages/who";
import { Words } from "./term";

export type Place = { page: string; query: URLSearchParams };

function here(): Place {
  const [page = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  return { page: page || "project", query: new URLSearchParams(query) };
}

export const link = (page: string, query: Record<string, string> = {}) =>
  `#/${page}?${new URLSearchParams(query).toString()}`;

/** The way of whoever comes first. */
const steps: [string, string][] = [
  ["data", "1 Your data"],
  ["who", "2 Who may know what"],
  ["result", "3 What comes out"],
];

/** All settings, a page each. */
const ofPolicy: [string, string][] = [
  ["policy", "Policy"],
  ["hierarchies", "Hierarchies"],
  ["tradeoff", "Trade-off"],
  ["publish", "Publish"],
];

const settings = ["look", ...ofPolicy.map(([name]) => name)];

function App() {
  const [place, go] = useState(here());
  const [project, setProject] = useState<Project | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [values, showValues] = useState(false);
  const reload = () =>
    getProject().then(
      (found) => (setProject(found), setError(null)),
      (refused: Error) => setError(refused.message),
    );
  useEffect(() => {
    const moved = () => {
      // Another page may have begun something that belongs on this one.
      void findJobs().then(() => {
        go(here());
        document.querySelector<HTMLElement>("main")?.focus();
      });
      void reload();
    };
    addEventListener("hashchange", moved);
    // Somebody may have moved on before this was heard.
    go(here());
    void reload();
    return () => removeEventListener("hashchange", moved);
  }, []);
  const policy = place.query.get("policy");
  const data = place.query.get("data");
  const checkOnly = project?.check_only ?? false;
  const shownPage = checkOnly ? "check" : place.page;
  const entry = (page: string, title: string, query: Record<string, string> = {}) => (
    <li>
      <a href={link(page, query)} aria-current={shownPage === page ? "page" : undefined}>
        {title}
      </a>
    </li>
  );
  const page = shownPage;
  return (
    <Values.Provider value={values}>
      <a class="skip" href="#main" onClick={(event) => (event.preventDefault(), document.querySelector<HTMLElement>("main")?.focus())}>
        To the page
      </a>
      <header>
        <a class="name" href={link("project")}>
          Bosket
        </a>
        <nav aria-label="Steps">
          <ul>
            {!checkOnly && entry("project", "Project")}
            {!checkOnly && policy && steps.map(([name, title]) => entry(name, title, { policy }))}
            {!checkOnly && !policy && data && entry("data", "1 Your data", { data })}
            {entry("check", "Check", policy ? { policy } : {})}
          </ul>
        </nav>
        {!checkOnly && (policy || data) && (
          <details class="settings" open={settings.includes(page)} key={settings.includes(page) ? "open" : "closed"}>
            <summary>All settings</summary>
            <nav aria-label="All settings">
              <ul>
                {data && entry("look", "Look", { data })}
                {policy && ofPolicy.map(([name, title]) => entry(name, title, { policy }))}
              </ul>
            </nav>
          </details>
        )}
        {policy && !checkOnly && <code class="of">{policy}</code>}
        <label class="inline values">
          <input type="checkbox" checked={values} onChange={(event) => showValues(event.currentTarget.checked)} />
          Show values
        </label>
      </header>
      <main tabIndex={-1} id="main">
        {error && <Notice kind="error">{error}</Notice>}
        {values && <Notice kind="warning">Values of people are shown: mind who looks at this screen.</Notice>}
        {project && page === "project" && <ProjectPage project={project} reload={reload} />}
        {project && page === "look" && <LookPage key={place.query.get("data")} data={place.query.get("data") ?? ""} project={project} />}
        {project && page === "data" && (policy || data) && (
          <DataPage key={`${policy} ${data}`} path={policy} data={data ?? project.data.find((one) => policy && one.policies.includes(policy))?.path ?? null} project={project} reload={reload} />
        )}
        {project && page === "who" && policy && <WhoPage key={policy} path={policy} project={project} />}
        {project && page === "policy" && policy && <PolicyPage key={policy} path={policy} project={project} reload={reload} />}
        {project && page === "hierarchies" && policy && <HierarchiesPage key={`${policy} ${place.query.get("attribute")}`} path={policy} attribute={place.query.get("attribute")} project={project} reload={reload} />}
        {project && page === "tradeoff" && policy && <TradeoffPage key={policy} path={policy} project={project} />}
        {project && page === "result" && policy && <ResultPage key={policy} path={policy} project={project} reload={reload} />}
        {project && page === "publish" && policy && <PublishPage key={policy} path={policy} project={project} reload={reload} />}
        {project && page === "check" && <CheckPage key={policy} project={project} query={place.query} reload={reload} />}
      </main>
      <footer>
        <JobList />
        <Words />
        <p>Runs on this machine only. Whatever is done here is a command line, shown with it, and can be repeated in a script.</p>
      </footer>
    </Values.Provider>
  );
}

const root = document.getElementById("app");
const begin = () => root && render(<App />, root);
// Who cannot enter sees why: every answer says so.
void enter()
  .then(findJobs)
  .then(begin, begin);
