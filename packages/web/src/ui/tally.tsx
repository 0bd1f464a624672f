import { words } from "../text/numbers.js";

/** Counts by kind, such as redactions or reasons for dropping. */
export function Tally({
  entries,
  none,
}: {
  readonly entries: readonly { readonly name: string; readonly count: number }[];
  readonly none: string;
}) {
  if (entries.length === 0) return <p className="muted">{none}</p>;
  return (
    <ul className="tally">
      {entries.map(({ name, count }) => (
        <li key={name}>
          <span>{words(name)}</span> <b>{count.toLocaleString("en")}</b>
        </li>
      ))}
    </ul>
  );
}
