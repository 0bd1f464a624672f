import { ApiError } from "@imprint/client";
import type { Adapter } from "@imprint/contracts";
import { type FormEvent, useId, useState } from "react";
import { api } from "../api.js";
import { useLoad } from "../load/use-load.js";
import { Field } from "../train/field.js";
import { problemsByField, type Values } from "../train/read-form.js";
import { SessionChoice } from "../train/session-choice.js";
import { Problem } from "../ui/problem.js";
import { checkEvaluateForm, evaluateRequestOf, NUMBERS } from "./read-evaluate-form.js";

const SHOWN = 1000;

interface ControlProps {
  readonly adapter: Adapter;
  readonly chosen: string;
  readonly problem: string | undefined;
  readonly onChange: (id: string) => void;
}

/** Another adapter of the same base model: one that has nothing to do with these sessions separates content from habit. */
function ControlChoice({ adapter: { adapter_id: own, base_model }, chosen, problem, onChange }: ControlProps) {
  const id = useId();
  const { value } = useLoad(`controls ${base_model}`, (signal) => api.adapters.list({ base_model, limit: SHOWN }, { signal }));
  return (
    <div className="field">
      <label htmlFor={id}>Control adapter</label>
      <select id={id} value={chosen} aria-describedby={`${id}-help`} onChange={(event) => onChange(event.target.value)}>
        <option value="">none</option>
        {value?.adapters
          .filter(({ adapter_id }) => adapter_id !== own)
          .map(({ adapter_id }) => (
            <option key={adapter_id}>{adapter_id}</option>
          ))}
      </select>
      <p id={`${id}-help`} className={problem === undefined ? "muted" : "problem"}>
        {problem ?? "Of unrelated work: shows how much any adapter would gain"}
      </p>
    </div>
  );
}

interface EvaluateFormProps {
  readonly adapter: Adapter;
  /** Sessions that its training held out as a whole. */
  readonly heldOut: readonly string[];
  readonly isBusy: boolean;
}

/** Starts an evaluation. Nothing has to be chosen: the service takes the sessions that the adapter has not seen. */
export function EvaluateForm({ adapter, heldOut, isBusy }: EvaluateFormProps) {
  const [isOpen, setOpen] = useState(false);
  const [sessionIds, setSessionIds] = useState<readonly string[]>([]);
  const [control, setControl] = useState("");
  const [values, setValues] = useState<Values>({});
  const [problems, setProblems] = useState<Values>({});
  const [failure, setFailure] = useState<unknown>(null);
  const [isStarting, setStarting] = useState(false);
  const form = { sessionIds, control, values };

  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const found = checkEvaluateForm(form);
    setProblems(found);
    setFailure(null);
    if (Object.keys(found).length > 0) return;
    setStarting(true);
    try {
      await api.adapters.evaluate(adapter.adapter_id, evaluateRequestOf(form));
    } catch (error) {
      setFailure(error);
      if (error instanceof ApiError) setProblems(problemsByField(error.errors));
    }
    setStarting(false);
  };

  return (
    <form onSubmit={(event) => void submit(event)} noValidate>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>Choose sessions, a control and how many actions</summary>
        {isOpen && (
          <>
            <SessionChoice
              without={new Set(adapter.session_ids.filter((id) => !heldOut.includes(id)))}
              isSingle={false}
              chosen={sessionIds}
              problem={problems.sessions}
              onChange={setSessionIds}
            />
            <div className="fields">
              <ControlChoice adapter={adapter} chosen={control} problem={problems.control_adapter_id} onChange={setControl} />
              {Object.entries(NUMBERS).map(([name, schema]) => (
                <Field
                  key={name}
                  name={name}
                  schema={schema}
                  value={values[name] ?? ""}
                  problem={problems[name]}
                  onChange={(value) => setValues((before) => ({ ...before, [name]: value }))}
                />
              ))}
            </div>
          </>
        )}
      </details>
      <Problem error={failure} />
      <button type="submit" className="primary" disabled={isBusy || isStarting}>
        Evaluate
      </button>
    </form>
  );
}
