import type { TrainLoraPreviewRequest } from "@imprint/contracts";
import { useState } from "react";
import { api } from "../api.js";
import { LoadedPreview } from "../sessions/preview.js";
import { Card } from "../ui/card.js";
import type { Settings } from "../ui/memory.jsx";

interface FormPreviewProps {
  readonly request: TrainLoraPreviewRequest;
  /** Whether the request may be sent; shows what is wrong with it otherwise. */
  readonly check: () => boolean;
  /** Fills in settings that fit the memory. */
  readonly onSettings: (settings: Settings) => void;
}

/** What the form as it stands would train: asked for by a button, since it reads the sessions. */
export function FormPreview({ request, check, onSettings }: FormPreviewProps) {
  const [asked, setAsked] = useState<{ readonly id: string; readonly request: TrainLoraPreviewRequest } | null>(null);
  const id = JSON.stringify(request);
  const ask = (): void => {
    if (check()) setAsked({ id, request });
  };
  return (
    <Card
      title="What would be trained"
      actions={
        <button type="button" onClick={ask}>
          {asked !== null && asked.id !== id ? "Preview again" : "Preview"}
        </button>
      }
    >
      {asked === null && <p className="muted">Windows, what is held out, memory and time, before anything is started.</p>}
      {asked !== null && asked.id !== id && <p className="notice">The form has changed since.</p>}
      {asked !== null && (
        <LoadedPreview
          id={asked.id}
          load={(options, window) => api.train.preview({ ...asked.request, ...(window ? { window } : {}) }, options)}
          onApply={onSettings}
        />
      )}
    </Card>
  );
}
