import type { ApiError } from "@imprint/client";
import type { Project } from "@imprint/contracts";
import { useEffect, useState } from "react";
import { api } from "../api.js";
import { type Connection, followEvents } from "./follow.js";

interface LiveProject {
  /** Null until the service told. */
  readonly project: Project | null;
  readonly connection: Connection;
  /** There is no such project. */
  readonly refused: ApiError | null;
}

const NOTHING: LiveProject = { project: null, connection: "connecting", refused: null };

/** A project as it happens. */
export function useProject(name: string): LiveProject {
  const [state, setState] = useState(NOTHING);
  useEffect(() => {
    setState(NOTHING);
    return followEvents({
      open: (options) => api.projects.events(name, options),
      onEvent: (event) => event.type !== "resync" && setState((before) => ({ ...before, project: event.project })),
      onConnection: (connection) => setState((before) => ({ ...before, connection })),
      onRefused: (refused) => setState((before) => ({ ...before, refused })),
    });
  }, [name]);
  return state;
}
