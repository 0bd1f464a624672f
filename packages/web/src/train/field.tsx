import { type ReactNode, useId } from "react";
import type { TSchema } from "typebox";
import { title, words } from "../text/numbers.js";
import { shapeOf } from "./schema-shape.js";

interface FieldProps {
  readonly name: string;
  readonly schema: TSchema;
  readonly value: string;
  readonly problem: string | undefined;
  readonly onChange: (value: string) => void;
  /** Values to offer where the schema names none. */
  readonly suggestions?: readonly string[];
  /** Below the field. */
  readonly note?: string;
}

const FORMS: Readonly<Record<string, string>> = {
  array: "names, with commas between",
  numbers: "one, or more with commas",
  object: "name=value, one a line",
};

/** The input that a field's schema calls for. Its limits are the schema's; the sentence below it too. */
export function Field({ name, schema, value, problem, onChange, suggestions = [], note = "" }: FieldProps) {
  const id = useId();
  const shape = shapeOf(schema);
  const common = {
    id,
    name,
    value,
    "aria-invalid": problem !== undefined,
    "aria-describedby": `${id}-help`,
    onChange: (event: { readonly target: { readonly value: string } }) => onChange(event.target.value),
  };
  const range = [shape.minimum, shape.maximum].every((limit) => limit !== undefined)
    ? `${shape.minimum} to ${shape.maximum}`
    : "";
  const placeholder = shape.preset === "" ? range : shape.preset;
  const offered = shape.type === "mixed" ? shape.choices : suggestions;
  const control = (): ReactNode => {
    if (shape.type === "choice" || shape.type === "boolean")
      return (
        <select {...common}>
          <option value="">default</option>
          {(shape.type === "boolean" ? ["true", "false"] : shape.choices).map((choice) => (
            <option key={choice} value={choice}>
              {shape.type === "boolean" ? { true: "yes", false: "no" }[choice] : words(choice)}
            </option>
          ))}
        </select>
      );
    if (shape.type === "object") return <textarea {...common} rows={2} placeholder={FORMS.object} />;
    const isNumber = shape.type === "integer" || shape.type === "number";
    return (
      <>
        <input
          {...common}
          type="text"
          inputMode={isNumber ? "decimal" : "text"}
          autoComplete="off"
          spellCheck={false}
          placeholder={shape.ofNumbers ? FORMS.numbers : (FORMS[shape.type] ?? placeholder)}
          list={offered.length > 0 ? `${id}-list` : undefined}
        />
        {offered.length > 0 && (
          <datalist id={`${id}-list`}>
            {offered.map((one) => (
              <option key={one} value={one} />
            ))}
          </datalist>
        )}
      </>
    );
  };
  return (
    <div className="field">
      <label htmlFor={id}>{title(name)}</label>
      {control()}
      <p id={`${id}-help`} className={problem === undefined ? "muted" : "problem"}>
        {problem ?? shape.description}
      </p>
      {note !== "" && <p className="muted">{note}</p>}
    </div>
  );
}
