import type { Connection } from "../live/follow.js";

const SENTENCES: Readonly<Record<Connection, string>> = {
  connecting: "Connecting…",
  open: "Live",
  lost: "Connection lost; trying again…",
};

export function ConnectionState({ connection }: { readonly connection: Connection }) {
  return (
    <span className="connection" data-connection={connection} role="status">
      {SENTENCES[connection]}
    </span>
  );
}
