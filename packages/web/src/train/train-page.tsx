import { ApiError } from "@imprint/client";
import type {
  BaseModelEntry,
  Profile,
  StartResponse,
  TrainHypernetworkRequest,
  TrainLoraPreviewRequest,
  TrainLoraRequest,
  TrainSweepRequest,
} from "@imprint/contracts";
import { type FormEvent, useEffect, useEffectEvent, useState } from "react";
import { api } from "../api.js";
import { useLoad } from "../load/use-load.js";
import { hrefOf } from "../router/route.js";
import { goTo } from "../router/use-route.js";
import { LoadedPreview } from "../sessions/preview.js";
import { bytes } from "../text/numbers.js";
import { Card } from "../ui/card.js";
import { Commands } from "../ui/commands.js";
import type { Settings } from "../ui/memory.js";
import { Page } from "../ui/page.js";
import { Problem } from "../ui/problem.js";
import { Field } from "./field.js";
import { HoldoutField } from "./holdout-field.js";
import {
  checkForm,
  commandLine,
  FIELDS,
  type Method,
  problemsByField,
  type Request,
  requestOf,
  type Values,
} from "./read-form.js";
import { shapeOf } from "./schema-shape.js";
import { SessionChoice } from "./session-choice.js";
import { trialsSentence } from "./trials-sentence.js";

interface FormPreviewProps {
  readonly request: TrainLoraPreviewRequest;
  /** Whether the request may be sent; shows what is wrong with it otherwise. */
  readonly check: () => boolean;
  /** Fills in settings that fit the memory. */
  readonly onSettings: (settings: Settings) => void;
}

const PAUSE_MS = 700;

/** What the form as it stands would train: asked for by a button, since it reads the sessions, and then after each change. */
function FormPreview({ request, check, onSettings }: FormPreviewProps) {
  const [asked, setAsked] = useState<{ readonly id: string; readonly request: TrainLoraPreviewRequest } | null>(null);
  const id = JSON.stringify(request);
  const isBehind = asked !== null && asked.id !== id;
  const ask = (): void => {
    if (check()) setAsked({ id, request });
  };
  const askAgain = useEffectEvent(ask);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each change waits anew.
  useEffect(() => {
    if (!isBehind) return;
    const pause = setTimeout(() => askAgain(), PAUSE_MS);
    return () => clearTimeout(pause);
  }, [id, isBehind]);
  return (
    <Card
      title="What would be trained"
      actions={
        asked === null && (
          <button type="button" onClick={ask}>
            Preview
          </button>
        )
      }
    >
      {asked === null && <p className="muted">Windows, what is held out, memory and time, before anything is started.</p>}
      {isBehind && <p className="notice">The form has changed since.</p>}
      {asked !== null && (
        <LoadedPreview
          id={asked.id}
          load={(options, window) => api.train.preview({ ...asked.request, ...(window ? { window } : {}) }, options)}
          onApply={onSettings}
        />
      )}
    </Card>
  );
}

const PROFILES: readonly (readonly [name: Profile, purpose: string, harm: string])[] = [
  [
    "remember",
    "These sessions word for word: for a model that knows this very work by heart.",
    "Makes it worse at everything else, other sessions of the same repository included.",
  ],
  [
    "learn",
    "What carries over: for the next task in the same repository or with the same agent.",
    "Does not repeat them exactly, and keeps some of their text out of the training to measure itself.",
  ],
];

interface ProfileChoiceProps {
  readonly value: string;
  /** What the service takes where nothing is chosen. */
  readonly preset: Profile;
  readonly onChange: (profile: string) => void;
}

/** What a training is for, and what that costs. */
function ProfileChoice({ value, preset, onChange }: ProfileChoiceProps) {
  return (
    <fieldset className="choice profiles">
      <legend>Profile</legend>
      {PROFILES.map(([name, purpose, harm]) => (
        <label key={name}>
          <input type="radio" name="profile" checked={(value || preset) === name} onChange={() => onChange(name)} />
          <span>
            {name} <span className="muted">{purpose}</span> <span className="cost">{harm}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** The bases that are here and fit, and why others are not offered. */
function offeredBases(models: readonly BaseModelEntry[]) {
  const here = models.filter((one) => one.here);
  const tooLarge = here.flatMap(({ name, training }) =>
    training?.fits === false ? [`${name} takes ${bytes(training.total_mb * 1e6)}`] : [],
  );
  return {
    suggestions: here.filter(({ training }) => training?.fits !== false).map(({ name }) => name),
    note: tooLarge.length === 0 ? "" : `Too large for this machine: ${tooLarge.join(", ")}.`,
  };
}

/** Shown at once; the others unfold. */
const FIRST: ReadonlySet<string> = new Set([
  "holdout",
  "task_type",
  "adapter_id",
  "base_model",
  "epochs",
  "rank",
  "learning_rate",
  "trials",
  "early_stopping",
  "train_on",
  "scaling",
]);
const METHODS = [
  ["lora", "LoRA", "trains on the sessions, as long as the profile says"],
  ["sweep", "Sweep", "trains with several settings on the same windows, and keeps what does best on held-out text"],
  ["hypernetwork", "Hypernetwork", "reads the session once and generates the adapter"],
] as const;
const STARTS = {
  lora: (request) => api.train.lora(request as TrainLoraRequest),
  sweep: (request) => api.train.sweep(request as TrainSweepRequest),
  hypernetwork: (request) => api.train.hypernetwork(request as TrainHypernetworkRequest),
} satisfies Record<Method, (request: Request) => Promise<StartResponse>>;

/** The form that starts a training. It refuses what the service would refuse, in the same words. */
export function TrainPage({ sessionIds }: { readonly sessionIds: readonly string[] }) {
  const [method, setMethod] = useState<Method>("lora");
  const [chosen, setChosen] = useState<readonly string[]>(sessionIds);
  const [values, setValues] = useState<Values>({});
  const [problems, setProblems] = useState<Values>({});
  const [failure, setFailure] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const models = useLoad("bases", (signal) => api.models.bases({ signal }));
  const form = { method, sessionIds: method === "hypernetwork" ? chosen.slice(0, 1) : chosen, values };
  const fields = Object.entries(FIELDS[method]).filter(([name]) => name !== "profile");
  const unfolded = fields.filter(([name]) => !FIRST.has(name));

  const check = (): boolean => {
    const found = checkForm(form);
    setProblems(found);
    setFailure(null);
    return Object.keys(found).length === 0;
  };
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (!check()) return;
    setBusy(true);
    try {
      const { job_id: jobId } = await STARTS[method](requestOf(form));
      goTo(hrefOf(["jobs", jobId]));
    } catch (error) {
      setBusy(false);
      setFailure(error);
      if (error instanceof ApiError) setProblems(problemsByField(error.errors));
    }
  };
  const field = ([name, schema]: (typeof fields)[number]) => {
    const common = {
      value: values[name] ?? "",
      problem: problems[name],
      onChange: (value: string) => setValues((before) => ({ ...before, [name]: value })),
    };
    const offered = name === "base_model" ? offeredBases(models.value?.models ?? []) : {};
    return name === "holdout" ? (
      <HoldoutField key={name} sessionIds={form.sessionIds} description={shapeOf(schema).description} {...common} />
    ) : (
      <Field key={name} name={name} schema={schema} {...offered} {...common} />
    );
  };

  return (
    <Page title="Train">
      <form onSubmit={(event) => void submit(event)} noValidate>
        <fieldset className="choice">
          <legend>Method</legend>
          {METHODS.map(([name, label, explanation]) => (
            <label key={name}>
              <input type="radio" name="method" checked={method === name} onChange={() => setMethod(name)} />
              <span>
                {label} <span className="muted">{explanation}</span>
              </span>
            </label>
          ))}
        </fieldset>
        <SessionChoice
          chosen={form.sessionIds}
          isSingle={method === "hypernetwork"}
          problem={problems.sessions}
          onChange={setChosen}
        />
        {method === "lora" && (
          <ProfileChoice
            value={values.profile ?? ""}
            preset={form.sessionIds.length > 1 ? "learn" : "remember"}
            onChange={(profile) => setValues((before) => ({ ...before, profile }))}
          />
        )}
        <div className="fields">{fields.filter(([name]) => FIRST.has(name)).map(field)}</div>
        <details open={unfolded.some(([name]) => problems[name] !== undefined) || undefined}>
          <summary>More settings</summary>
          <div className="fields">{unfolded.map(field)}</div>
        </details>
        {method === "lora" && (
          <FormPreview
            request={requestOf(form) as TrainLoraRequest}
            check={check}
            onSettings={(settings) => setValues((before) => ({ ...before, ...settings }))}
          />
        )}
        {method === "sweep" && (
          <p className="muted" role="status">
            {trialsSentence(requestOf(form) as TrainSweepRequest)}
          </p>
        )}
        {form.sessionIds.length > 0 && <Commands lines={[commandLine(form)]} />}
        <Problem error={failure} />
        <button type="submit" className="primary" disabled={isBusy}>
          {method === "sweep" ? "Start sweep" : "Start training"}
        </button>
      </form>
    </Page>
  );
}
