import { type ReactNode, useEffect, useRef } from "react";

/** A table that scrolls within itself where it is wider than the screen; on a phone its rows are cards, of named cells. */
export function Table({
  head,
  label,
  children,
}: {
  readonly head: readonly string[];
  readonly label: string;
  readonly children: ReactNode;
}) {
  const body = useRef<HTMLTableSectionElement>(null);
  useEffect(() => {
    for (const row of body.current?.rows ?? [])
      for (const [at, cell] of [...row.cells].entries()) cell.dataset.head = head[at] ?? "";
  });
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable with the keyboard (WCAG 2.1.1).
    <section className="scroll" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {head.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body}>{children}</tbody>
      </table>
    </section>
  );
}
