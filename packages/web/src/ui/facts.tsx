import type { ReactNode } from "react";

interface FactsProps {
  readonly facts: readonly (readonly [name: string, value: ReactNode])[];
  /** Side by side instead of one a line. */
  readonly isWide?: boolean;
}

/** Names and values; what has no value is left out. */
export function Facts({ facts, isWide = false }: FactsProps) {
  const known = facts.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return (
    <dl className="facts" data-wide={isWide}>
      {known.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
