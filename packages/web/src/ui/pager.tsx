import type { Pages } from "../load/use-pages.js";

/** To the pages around the one that is shown; nothing where there is one page. */
export function Pager({ older, newer }: Pick<Pages<never>, "older" | "newer">) {
  if (older === null && newer === null) return null;
  return (
    <nav className="filters" aria-label="Pages">
      <button type="button" disabled={newer === null} onClick={newer ?? undefined}>
        Newer
      </button>
      <button type="button" disabled={older === null} onClick={older ?? undefined}>
        Older
      </button>
    </nav>
  );
}
