import { useSyncExternalStore } from "react";
import { AdapterPage } from "./adapters/adapter-page.js";
import { AdaptersPage } from "./adapters/adapters-page.js";
import { ComparePage } from "./adapters/compare-page.js";
import { signedOutStore } from "./api.js";
import { EvaluationPage } from "./evaluation/evaluation-page.js";
import { JobPage } from "./job/job-page.js";
import { JobsPage } from "./jobs/jobs-page.js";
import { ModelsPage } from "./models/models-page.js";
import { PlaygroundPage } from "./playground/playground-page.js";
import { ProjectPage } from "./projects/project-page.js";
import { ProjectsPage } from "./projects/projects-page.js";
import { hrefOf, type Route } from "./router/route.js";
import { useRoute } from "./router/use-route.js";
import { SessionPage } from "./sessions/session-page.js";
import { SessionsPage } from "./sessions/sessions-page.js";
import { SignInPage } from "./sign-in/sign-in-page.js";
import { TrainPage } from "./train/train-page.js";
import { Keys } from "./ui/keys.js";
import { Page } from "./ui/page.js";

/** The first one is home. */
const SECTIONS = [
  ["projects", "Projects", "g p"],
  ["sessions", "Sessions", "g s"],
  ["train", "Train", "g t"],
  ["jobs", "Jobs", "g j"],
  ["adapters", "Adapters", "g a"],
  ["models", "Models", "g m"],
  ["playground", "Playground", "g y"],
] as const;
const [[HOME]] = SECTIONS;

function pageOf({ path: [section = HOME, id, part], query }: Route) {
  if (section === "jobs") return id === undefined ? <JobsPage status={query.status} /> : <JobPage key={id} jobId={id} />;
  if (section === "sessions") return id === undefined ? <SessionsPage /> : <SessionPage key={id} sessionId={id} />;
  if (section === "adapters" && id !== undefined && part === "evaluation") return <EvaluationPage key={id} adapterId={id} />;
  if (section === "adapters") return id === undefined ? <AdaptersPage /> : <AdapterPage key={id} adapterId={id} />;
  if (section === "projects") return id === undefined ? <ProjectsPage /> : <ProjectPage key={id} name={id} />;
  if (section === "models") return <ModelsPage />;
  if (section === "compare") return <ComparePage ids={[query.a, query.b].filter((one) => one !== undefined)} />;
  if (section === "playground") return <PlaygroundPage adapterId={query.adapter} asked={query} />;
  if (section === "train") return <TrainPage key={query.session} sessionIds={query.session?.split(",") ?? []} />;
  return (
    <Page title="Nothing here">
      <p>
        This page does not exist. <a href={hrefOf([HOME])}>Go to the projects</a>.
      </p>
    </Page>
  );
}

export function App() {
  const route = useRoute();
  const isSignedOut = useSyncExternalStore(signedOutStore.subscribe, signedOutStore.get);
  const [section = HOME] = route.path;
  const skip = (): void => document.querySelector("h1")?.focus();
  return (
    <div className="shell">
      <button type="button" className="skip" onClick={skip}>
        Skip to the content
      </button>
      <nav aria-label="Sections">
        <span className="brand">Imprint</span>
        {SECTIONS.map(([name, label, keys]) => (
          <a key={name} href={hrefOf([name])} data-keys={keys} aria-current={section === name ? "page" : undefined}>
            {label}
          </a>
        ))}
        <a className="aside" href="docs">
          API
        </a>
      </nav>
      {isSignedOut ? <SignInPage /> : pageOf(route)}
      <Keys />
    </div>
  );
}
