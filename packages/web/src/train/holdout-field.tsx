import { useId } from "react";

/** A share that is not written yet: the schema refuses it. */
const NO_SHARE = "share";
const FIRST_SHARE = "0.2";

type Mode = "" | "auto" | "none" | "share" | "sessions";

const MODES: readonly (readonly [mode: Mode, label: string])[] = [
  ["", "default of the profile"],
  ["auto", "automatic: the newest part of what is long enough"],
  ["none", "nothing"],
  ["share", "a share"],
  ["sessions", "whole sessions"],
];

/** How a holdout's text is written: as read-form reads it, where a comma makes a list. */
const modeOf = (value: string): Mode =>
  value === "" || value === "auto" || value === "none" ? value : value.includes(",") ? "sessions" : "share";

const textOf = (ids: readonly string[]): string => `${ids.join(",")},`;
const idsOf = (value: string): readonly string[] => value.split(",").filter((id) => id !== "");

interface HoldoutFieldProps {
  readonly value: string;
  readonly sessionIds: readonly string[];
  readonly description: string;
  readonly problem: string | undefined;
  readonly onChange: (value: string) => void;
}

/** What is kept out of the training to measure it on: by rule, a share, or some of the chosen sessions. */
export function HoldoutField({ value, sessionIds, description, problem, onChange }: HoldoutFieldProps) {
  const id = useId();
  const mode = modeOf(value);
  const choose = (next: string): void =>
    onChange(next === "share" ? FIRST_SHARE : next === "sessions" ? textOf(sessionIds.slice(-1)) : next);
  const heldOut = idsOf(value);
  const toggle = (one: string): void =>
    onChange(textOf(heldOut.includes(one) ? heldOut.filter((other) => other !== one) : [...heldOut, one]));
  return (
    <div className="field">
      <label htmlFor={id}>Held out</label>
      <select
        id={id}
        value={mode}
        aria-invalid={problem !== undefined}
        aria-describedby={`${id}-help`}
        onChange={(event) => choose(event.target.value)}
      >
        {MODES.map(([name, label]) => (
          <option key={name} value={name} disabled={name === "sessions" && sessionIds.length < 2}>
            {label}
          </option>
        ))}
      </select>
      {mode === "share" && (
        <input
          type="text"
          inputMode="decimal"
          aria-label="Share held out, at most 0.5"
          autoComplete="off"
          value={value === NO_SHARE ? "" : value}
          onChange={(event) => onChange(event.target.value.trim().replaceAll(",", ".") || NO_SHARE)}
        />
      )}
      {mode === "sessions" && (
        <fieldset className="options">
          <legend className="muted">Sessions held out</legend>
          {sessionIds.map((one) => (
            <label key={one}>
              <input type="checkbox" checked={heldOut.includes(one)} onChange={() => toggle(one)} />
              <span className="mono">{one}</span>
            </label>
          ))}
        </fieldset>
      )}
      <p id={`${id}-help`} className={problem === undefined ? "muted" : "problem"}>
        {problem ?? description}
      </p>
    </div>
  );
}
