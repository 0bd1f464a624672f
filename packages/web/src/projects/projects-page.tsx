import { change } from "@imprint/contracts";
import { api } from "../api.js";
import { useLoad } from "../load/use-load.js";
import { hrefOf } from "../router/route.js";
import { ago } from "../text/numbers.js";
import { Page } from "../ui/page.js";
import { Problem } from "../ui/problem.js";
import { Table } from "../ui/table.js";
import { RunChip } from "./run-chip.js";

/** Every project with the adapter that it stands by and what its last run has proved. */
export function ProjectsPage() {
  const { value, error } = useLoad("projects", (signal) => api.projects.list({ signal }));
  return (
    <Page title="Projects">
      <Problem error={error} />
      {value && value.projects.length > 0 && (
        <Table label="Projects" head={["Project", "Latest", "Sessions", "Last run", "Loss on held-out sessions", "When"]}>
          {value.projects.map(({ name, base_model: base, latest, sessions, last_run: run }) => (
            <tr key={name}>
              <td>
                <a className="mono" href={hrefOf(["projects", name])}>
                  {name}
                </a>
                <div className="muted">{base}</div>
              </td>
              <td className="nowrap">
                {latest === null ? (
                  <span className="muted">none yet</span>
                ) : (
                  <a className="mono" href={hrefOf(["adapters", latest.adapter_id])}>
                    {latest.adapter_id}
                  </a>
                )}
              </td>
              <td className="number">{sessions.toLocaleString("en")}</td>
              <td className="nowrap">{run && <RunChip run={run} />}</td>
              <td className="nowrap">
                {run?.figures && change(run.figures.base_loss, run.figures.base_loss + run.figures.change)}
              </td>
              <td className="muted nowrap">{run && ago(run.created_at, Date.now())}</td>
            </tr>
          ))}
        </Table>
      )}
      {value?.projects.length === 0 && (
        <p className="empty">
          No projects yet. One ties sessions to an adapter that is trained again as more come: tick some of your{" "}
          <a href={hrefOf(["sessions"])}>sessions</a>, or tie a folder with <code>imprint project NAME --from FOLDER</code>.
        </p>
      )}
    </Page>
  );
}
