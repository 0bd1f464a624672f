import { type ReactNode, useState } from "react";

interface OnDemandProps {
  readonly summary: ReactNode;
  readonly isOpen?: boolean;
  readonly children: () => ReactNode;
}

/** What is made only while it is looked at: a hundred sessions have more text than a page can hold. */
export function OnDemand({ summary, isOpen: isFirstOpen = false, children }: OnDemandProps) {
  const [isOpen, setOpen] = useState(isFirstOpen);
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{summary}</summary>
      {isOpen && children()}
    </details>
  );
}
