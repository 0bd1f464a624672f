import { latestOf } from "@imprint/contracts";
import { useCallback, useEffect, useId, useRef, useState } from "react";
import { api } from "../api.js";
import { useAction } from "../load/use-action.js";
import { hrefOf } from "../router/route.js";
import { goTo } from "../router/use-route.js";
import { Problem } from "../ui/problem.js";

function Question({ name, onClose }: { readonly name: string; readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const title = useId();
  const { run, isBusy, error } = useAction(
    useCallback(async () => {
      await api.projects.delete(name);
      goTo(hrefOf(["projects"]));
    }, [name]),
  );
  return (
    <dialog ref={dialog} aria-labelledby={title} onClose={onClose}>
      <h2 id={title}>Delete the project {name}?</h2>
      <p>Its runs and the name {latestOf(name)} go: whoever asks for that name is refused. Its sessions and adapters stay.</p>
      <Problem error={error} />
      <div className="actions">
        <button type="button" onClick={onClose}>
          Keep it
        </button>
        <button type="button" className="danger" disabled={isBusy} onClick={() => void run()}>
          Delete the project
        </button>
      </div>
    </dialog>
  );
}

/** The button, and the question that it asks first. */
export function DeleteProject({ name, isActive }: { readonly name: string; readonly isActive: boolean }) {
  const [isAsking, setIsAsking] = useState(false);
  const close = useCallback(() => setIsAsking(false), []);
  return (
    <>
      <button type="button" className="danger" disabled={isActive} onClick={() => setIsAsking(true)}>
        Delete
      </button>
      {isAsking && <Question name={name} onClose={close} />}
    </>
  );
}
