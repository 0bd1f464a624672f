/** What may run in a sandbox, and what it may reach. */
export interface SandboxRequest {
  /** The program and its arguments; an absolute path, or a name on the sandbox's PATH. */
  readonly command: readonly [string, ...string[]];
  /** The one folder that may be written, at the same path inside; the command starts there. */
  readonly workspace: string;
  /** Folders outside the system that may be read, at the same paths: where an agent is installed. */
  readonly readable?: readonly string[];
  /** All that the command finds in its environment, but PATH, HOME and TMPDIR. */
  readonly env?: Readonly<Record<string, string>>;
  /** The one address that may be reached, on this machine: `http://127.0.0.1:PORT` inside is the same port outside. Null: no network at all. */
  readonly port: number | null;
  readonly limits: SandboxLimits;
  readonly signal?: AbortSignal;
}

export interface SandboxLimits {
  readonly seconds: number;
  readonly memoryMb: number;
  readonly processes: number;
  /** Of one file that is written; all that is written at once may take four times as much. */
  readonly fileMb: number;
}

/** How a command in a sandbox ended. Nothing that it started runs on. */
export interface SandboxEnd {
  /** Null where a limit or the signal ended it. */
  readonly code: number | null;
  readonly stopped: "seconds" | "memory" | "processes" | "disk" | "aborted" | null;
  /** The last 64 KiB of each. */
  readonly stdout: string;
  readonly stderr: string;
}

export interface Sandbox {
  readonly name: "bubblewrap" | "podman" | "docker" | "none";
  run(request: SandboxRequest): Promise<SandboxEnd>;
}
