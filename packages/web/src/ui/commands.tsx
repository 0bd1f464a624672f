import { useId, useState } from "react";

/** A line to type, and a button that copies it: browsers allow that over HTTPS and on the machine itself. */
function Command({ text }: { readonly text: string }) {
  const [copied, setCopied] = useState("");
  const id = useId();
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setCopied(text);
  };
  return (
    <li>
      <code id={id}>{text}</code>
      {window.isSecureContext && (
        <button type="button" aria-describedby={id} onClick={() => void copy()}>
          {copied === text ? "Copied" : "Copy"}
        </button>
      )}
    </li>
  );
}

export function Commands({ lines }: { readonly lines: readonly string[] }) {
  return (
    <ul className="commands">
      {lines.map((line) => (
        <Command key={line} text={line} />
      ))}
    </ul>
  );
}
