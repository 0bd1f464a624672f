import { type ReactNode, useId } from "react";
import type { Tone } from "../text/verdict.js";

interface CardProps {
  readonly title: string;
  readonly children: ReactNode;
  readonly actions?: ReactNode;
  readonly tone?: Tone | undefined;
}

export function Card({ title, children, actions, tone }: CardProps) {
  const id = useId();
  return (
    <section className="card" data-tone={tone} aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {actions}
      </header>
      {children}
    </section>
  );
}
