import { useEffect, useRef, useState } from "react";

/** How long the first key of two waits for the second. */
const PAUSE_MS = 1_500;

/** The next row of the page's list, or the one before, gets the focus. */
function move(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>("main tbody tr, main .turn")];
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const next = rows[at === -1 ? (by === 1 ? 0 : rows.length - 1) : at + by];
  next?.querySelector<HTMLElement>("a[href], button, summary, [tabindex='0']")?.focus();
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  target.closest("textarea, select, dialog, input:not([type='checkbox'], [type='radio'])") !== null;

const OF_LISTS = [
  ["j", "Next row or turn"],
  ["k", "The one before"],
  ["/", "Search"],
  ["?", "These keys"],
] as const;

/** What the page answers to: elements say it themselves, by `data-keys`. */
function Help({ onClose }: { readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const named = [...document.querySelectorAll<HTMLElement>("[data-keys]")].map(
    ({ dataset, textContent }) => [dataset.keys ?? "", textContent] as const,
  );
  return (
    <dialog ref={dialog} aria-label="Keys" onClose={onClose}>
      <dl className="facts">
        {[...OF_LISTS, ...named].map(([keys, name]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{name}</dd>
          </div>
        ))}
      </dl>
    </dialog>
  );
}

/** Keys of the whole dashboard, while nothing is typed into. */
export function Keys() {
  const [isHelping, setHelping] = useState(false);
  useEffect(() => {
    let first = { key: "", at: 0 };
    const press = (event: KeyboardEvent): void => {
      const { key, timeStamp: at } = event;
      if (key === "Escape" && isTyping(event.target)) (document.activeElement as HTMLElement).blur();
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const keys = at - first.at < PAUSE_MS ? `${first.key} ${key}` : key;
      const wanted = document.querySelector<HTMLElement>(`[data-keys="${CSS.escape(keys)}"]`);
      first = { key, at };
      if (wanted) wanted.click();
      else if (key === "j") move(1);
      else if (key === "k") move(-1);
      else if (key === "/") document.querySelector<HTMLElement>("main [type='search'], main .search")?.focus();
      else if (key === "?") setHelping(true);
      else return;
      first = { key: "", at: 0 };
      event.preventDefault();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
  return isHelping ? <Help onClose={() => setHelping(false)} /> : null;
}
