import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import { useAction } from "../load/use-action.js";
import { Problem } from "./problem.js";

interface ConfirmedProps {
  /** On the button that asks. */
  readonly label: string;
  readonly question: string;
  /** What goes, and what stays. */
  readonly children: ReactNode;
  /** On the button that does it. */
  readonly confirm: string;
  readonly isDisabled?: boolean;
  readonly act: () => Promise<unknown>;
}

/** A button for what cannot be undone: it asks first. */
export function Confirmed({ label, question, children, confirm, isDisabled = false, act }: ConfirmedProps) {
  const [isAsking, setAsking] = useState(false);
  const dialog = useRef<HTMLDialogElement>(null);
  const title = useId();
  const { run, isBusy, error } = useAction(act);
  useEffect(() => {
    if (isAsking) dialog.current?.showModal();
  }, [isAsking]);
  return (
    <>
      <button type="button" className="danger" disabled={isDisabled} onClick={() => setAsking(true)}>
        {label}
      </button>
      {isAsking && (
        <dialog ref={dialog} aria-labelledby={title} onClose={() => setAsking(false)}>
          <h2 id={title}>{question}</h2>
          <p>{children}</p>
          <Problem error={error} />
          <div className="actions">
            <button type="button" onClick={() => dialog.current?.close()}>
              Keep it
            </button>
            <button type="button" className="danger" disabled={isBusy} onClick={() => void run()}>
              {confirm}
            </button>
          </div>
        </dialog>
      )}
    </>
  );
}
