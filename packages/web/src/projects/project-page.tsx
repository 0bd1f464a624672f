import { isRunning, latestOf, type Project } from "@imprint/contracts";
import { useCallback, useState } from "react";
import { api } from "../api.js";
import { useProject } from "../live/use-project.js";
import { useAction } from "../load/use-action.js";
import { hrefOf } from "../router/route.js";
import { ago, count, words } from "../text/numbers.js";
import { plain } from "../text/plain.js";
import { EVALUATION_TONES } from "../text/verdict.js";
import { Card } from "../ui/card.js";
import { ConnectionState } from "../ui/connection.js";
import { Facts } from "../ui/facts.js";
import { Page } from "../ui/page.js";
import { Problem } from "../ui/problem.js";
import { DeleteProject } from "./delete-project.js";
import { History } from "./history.js";
import { Verdicts } from "./verdicts.js";

function Latest({
  project: { name, latest, runs, base_model: base, sessions, folders, settings },
}: {
  readonly project: Project;
}) {
  const run = runs.find(({ adapter_id }) => adapter_id === latest?.adapter_id);
  const tone = run?.verdict ? EVALUATION_TONES[run.verdict] : undefined;
  return (
    <Card title={latest === null ? "No adapter yet" : `Latest: ${latest.adapter_id}`} tone={tone}>
      {run?.sentence && <p className="verdict">{run.sentence}</p>}
      <Facts
        facts={[
          [
            "Adapter",
            latest && (
              <a key="adapter" className="mono" href={hrefOf(["adapters", latest.adapter_id])}>
                {latest.adapter_id}
              </a>
            ),
          ],
          ["Asked for as", latest && <code key="name">{latestOf(name)}</code>],
          ["Since", latest && ago(latest.moved_at, Date.now())],
          ["Base model", base],
          ["Sessions", count(sessions, "session")],
          ["From", folders.map(plain).join(", ")],
          ...Object.entries(settings).map(([setting, value]) => [words(setting), String(value)] as const),
        ]}
      />
    </Card>
  );
}

/** A project: the adapter that it stands by, what each run has proved, and the way back. */
export function ProjectPage({ name }: { readonly name: string }) {
  const { project, connection, refused } = useProject(name);
  const [said, setSaid] = useState<string | null>(null);
  const run = useAction(
    useCallback(async () => {
      setSaid(null);
      setSaid((await api.projects.run(name)).sentence);
    }, [name]),
  );
  const rollback = useAction(
    useCallback(
      async (number: number) => {
        setSaid(null);
        const { latest } = await api.projects.rollback(name, { run: number });
        setSaid(`${latestOf(name)} is ${latest?.adapter_id} now.`);
      },
      [name],
    ),
  );
  const isActive = project?.runs.some(isRunning) ?? false;
  const actions = project && (
    <>
      <ConnectionState connection={connection} />
      {project.latest && (
        <a className="button" href={hrefOf(["playground"], { adapter: project.latest.adapter_id })}>
          Try it
        </a>
      )}
      <button type="button" className="primary" disabled={run.isBusy || isActive} onClick={() => void run.run()}>
        {isActive ? "A run goes on" : "Train on what is new"}
      </button>
      <DeleteProject name={name} isActive={isActive} />
    </>
  );
  return (
    <Page title={name} actions={actions}>
      <Problem error={refused ?? run.error ?? rollback.error} />
      {said !== null && <p role="status">{said}</p>}
      {project && (
        <>
          <Latest project={project} />
          <Verdicts runs={project.runs} />
          <Card title="Runs">
            {project.runs.length === 0 ? (
              <p className="empty">No run yet: it begins with the second session.</p>
            ) : (
              <History project={project} isBusy={rollback.isBusy} onRollback={(number) => void rollback.run(number)} />
            )}
          </Card>
        </>
      )}
    </Page>
  );
}
