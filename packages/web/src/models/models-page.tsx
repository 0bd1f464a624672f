import { isFinished } from "@imprint/client";
import type { BaseModelEntry, JobDetails } from "@imprint/contracts";
import { type FormEvent, useCallback, useEffect, useState } from "react";
import { api } from "../api.js";
import { CancelButton } from "../job/cancel-button.js";
import { useJobs } from "../live/use-jobs.js";
import { useAction } from "../load/use-action.js";
import { useLoad } from "../load/use-load.js";
import { hrefOf } from "../router/route.js";
import { bytes } from "../text/numbers.js";
import { Confirmed } from "../ui/confirmed.js";
import { ConnectionState } from "../ui/connection.js";
import { Page } from "../ui/page.js";
import { Problem } from "../ui/problem.js";
import { JobBar } from "../ui/progress-bar.js";
import { Table } from "../ui/table.js";

const HEAD = ["Model", "Size", "Licence", "Context", "Template", "Weights", "A training here", "Chats by", "Actions"];
const TEMPLATES = { tools: "with tools", plain: "without tools" } as const;

/** A pull that is under way, or why the last one failed. */
function Pull({ job }: { readonly job: JobDetails }) {
  const name = String(job.request.base_model);
  if (job.status === "failed") return <Problem error={job.error?.message} />;
  if (isFinished(job)) return null;
  return (
    <span className="actions">
      <a href={hrefOf(["jobs", job.job_id])}>{job.status === "queued" ? "waits" : "being pulled"}</a>
      <JobBar job={job} label={`Pull of ${name}`} />
      <CancelButton job={job} />
    </span>
  );
}

interface RowProps {
  readonly model: BaseModelEntry;
  /** The newest of it. */
  readonly pull: JobDetails | undefined;
  readonly onPull: (name: string) => void;
  readonly onRemoved: () => void;
}

function ModelRow({ model, pull, onPull, onRemoved }: RowProps) {
  const { name, is_default, here, from, size, licence, context_length, template, weights, engine, training } = model;
  const remove = useCallback(async () => {
    await api.models.delete(name);
    onRemoved();
  }, [name, onRemoved]);
  const isPulled = pull !== undefined && !isFinished(pull);
  return (
    <tr>
      <td>
        <span className="mono">{name}</span>
        <div className="muted">{is_default ? `default · ${from}` : from}</div>
      </td>
      <td className="number nowrap">{size !== null && bytes(size)}</td>
      <td className="nowrap">{licence}</td>
      <td className="number">{context_length?.toLocaleString("en")}</td>
      <td className="nowrap">{template === null ? "none" : TEMPLATES[template]}</td>
      <td>{weights}</td>
      <td className="nowrap">
        {training && (
          <span className={training.fits ? undefined : "problem"}>
            {training.fits ? "fits" : "does not fit"}: {bytes(training.total_mb * 1e6)}
          </span>
        )}
      </td>
      <td className="nowrap">{engine}</td>
      <td className="end">
        {pull && (isPulled || !here) && <Pull job={pull} />}
        {!here && !isPulled && (
          <button type="button" onClick={() => onPull(name)}>
            Pull
          </button>
        )}
        {here && !is_default && (
          <Confirmed label="Remove" question={`Remove ${name}?`} confirm={`Remove ${name}`} act={remove}>
            What was trained on it stays, and can be used again once it is back.
          </Confirmed>
        )}
      </td>
    </tr>
  );
}

/** Base models: those that are here, those that can be pulled, and what a training of each takes. */
export function ModelsPage() {
  const { value, error, reload } = useLoad("bases", (signal) => api.models.bases({ signal }));
  const { jobs, connection } = useJobs();
  const [wanted, setWanted] = useState("");
  const start = useAction(useCallback((name: string) => api.models.pull(name), []));
  const pulls = (jobs ?? []).filter(({ kind }) => kind === "pull").toSorted((a, b) => (a.job_id < b.job_id ? 1 : -1));
  const pullOf = (name: string) => pulls.find(({ request }) => request.base_model === name);
  const ended = pulls.filter(isFinished).length;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a pull that ends changes what is here.
  useEffect(reload, [ended]);
  const models = value?.models ?? [];
  const listed = new Set(models.map(({ name }) => name));
  const others = pulls.filter((job, at) => {
    const name = String(job.request.base_model);
    return !listed.has(name) && pulls.findIndex(({ request }) => request.base_model === name) === at;
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void start.run(wanted.trim());
  };
  return (
    <Page title="Models" actions={<ConnectionState connection={connection} />}>
      <Problem error={error ?? start.error} />
      <form className="filters" onSubmit={submit}>
        <input
          type="text"
          className="search"
          aria-label="Name or hub id"
          placeholder="A name of the list, or a hub id owner/name"
          autoComplete="off"
          spellCheck={false}
          value={wanted}
          onChange={(event) => setWanted(event.target.value)}
        />
        <button type="submit" className="primary" disabled={start.isBusy || wanted.trim() === ""}>
          Pull
        </button>
      </form>
      {others.map((job) => (
        <div key={job.job_id}>
          <span className="mono">{String(job.request.base_model)}</span> <Pull job={job} />
        </div>
      ))}
      {value && (
        <Table label="Base models" head={HEAD}>
          {models.map((model) => (
            <ModelRow
              key={model.name}
              model={model}
              pull={pullOf(model.name)}
              onPull={(name) => void start.run(name)}
              onRemoved={reload}
            />
          ))}
        </Table>
      )}
    </Page>
  );
}
