import { type DragEvent, useId, useState } from "react";

/** Takes files by drag and drop, or by the file picker that its button opens. */
export function DropZone({ onFiles }: { readonly onFiles: (files: readonly File[]) => void }) {
  const [isOver, setOver] = useState(false);
  const id = useId();
  const drag = (event: DragEvent, over: boolean): void => {
    event.preventDefault();
    setOver(over);
  };
  const drop = (event: DragEvent): void => {
    drag(event, false);
    onFiles([...event.dataTransfer.files]);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is a pointer's way; the button inside does the same.
    <div
      className="drop"
      data-over={isOver}
      onDragEnter={(event) => drag(event, true)}
      onDragOver={(event) => drag(event, true)}
      onDragLeave={(event) => drag(event, false)}
      onDrop={drop}
    >
      <p>Drop recorded sessions here: the files as the agent wrote them, of any supported format.</p>
      <label className="button" htmlFor={id}>
        Choose files
      </label>
      <input
        id={id}
        className="hidden-input"
        type="file"
        multiple
        onChange={(event) => {
          onFiles([...(event.target.files ?? [])]);
          event.target.value = "";
        }}
      />
    </div>
  );
}
