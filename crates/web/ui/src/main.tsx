// The frame: where we are, and the pages.

import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { getProject, type Project } from "./api";
import { Notice } from "./parts";
import { CheckPage } from "./pages/check";
import { HierarchiesPage } from "./pages/hierarchies";
import { LookPage } from "./pages/look";
import { PolicyPage } from "./pages/policy";
import { ProjectPage } from "./pages/project";
import { PublishPage } from "./pages/publish";
import { ResultPage } from "./pages/result";
import { TradeoffPage } from "./pages/tradeoff";

export type Place = { page: string; query: URLSearchParams };

function here(): Place {
  const [page = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  return { page: page || "project", query: new URLSearchParams(query) };
}

export const link = (page: string, query: Record<string, string> = {}) =>
  `#/${page}?${new URLSearchParams(query).toString()}`;

const ofPolicy: [string, string][] = [
  ["policy", "Policy"],
  ["hierarchies", "Hierarchies"],
  ["tradeoff", "Trade-off"],
  ["result", "Result"],
  ["publish", "Publish"],
];

function App() {
  const [place, go] = useState(here());
  const [project, setProject] = useState<Project | null>(null);
  const [error, setError] = useState<string | null>(null);
  const reload = () => getProject().then(setProject, (refused: Error) => setError(refused.message));
  useEffect(() => {
    const moved = () => {
      go(here());
      document.querySelector<HTMLElement>("main")?.focus();
    };
    addEventListener("hashchange", moved);
    // Somebody may have moved on before this was heard.
    go(here());
    void reload();
    return () => removeEventListener("hashchange", moved);
  }, []);
  const policy = place.query.get("policy");
  const entry = (page: string, title: string, query: Record<string, string> = {}) => (
    <li>
      <a href={link(page, query)} aria-current={place.page === page ? "page" : undefined}>
        {title}
      </a>
    </li>
  );
  const checkOnly = project?.check_only ?? false;
  const page = checkOnly ? "check" : place.page;
  return (
    <>
      <header>
        <a class="name" href={link("project")}>
          Bosket
        </a>
        <nav aria-label="Pages">
          <ul>
            {!checkOnly && entry("project", "Project")}
            {!checkOnly && policy && ofPolicy.map(([name, title]) => entry(name, title, { policy }))}
            {entry("check", "Check")}
          </ul>
        </nav>
        {policy && !checkOnly && <code class="of">{policy}</code>}
      </header>
      <main tabIndex={-1}>
        {error && <Notice kind="error">{error}</Notice>}
        {project && page === "project" && <ProjectPage project={project} reload={reload} />}
        {project && page === "look" && <LookPage key={place.query.get("data")} data={place.query.get("data") ?? ""} />}
        {project && page === "policy" && policy && <PolicyPage key={policy} path={policy} />}
        {project && page === "hierarchies" && policy && <HierarchiesPage key={policy} path={policy} project={project} reload={reload} />}
        {project && page === "tradeoff" && policy && <TradeoffPage key={policy} path={policy} />}
        {project && page === "result" && policy && <ResultPage key={policy} path={policy} project={project} reload={reload} />}
        {project && page === "publish" && policy && <PublishPage key={policy} path={policy} project={project} />}
        {project && page === "check" && <CheckPage project={project} query={place.query} />}
      </main>
      <footer>
        Runs on this machine only. Whatever is done here is a command line, shown with it, and can be repeated in a script.
      </footer>
    </>
  );
}

const root = document.getElementById("app");
if (root) render(<App />, root);
