export interface CommandName {
  readonly name: string;
  readonly args?: string;
  readonly description: string;
  /** Whether it has no options of its own, as where sub-commands have them. */
  readonly optionless?: true;
}

/** What the help says of every command, in its order. */
export const COMMANDS = [
  { name: "setup", description: "install what trains and chats: Python packages, the default model, llama.cpp" },
  { name: "demo", description: "train an adapter on a recorded session and prove it, in minutes", optionless: true },
  { name: "start", description: "find what agents recorded here, keep it, and train a first adapter" },
  { name: "status", description: "say what runs, what is new, and what to do next" },
  { name: "serve", description: "run the service until Ctrl-C" },
  { name: "service", description: "start the service at each login: systemd on Linux, launchd on macOS", optionless: true },
  { name: "doctor", args: "[session]", description: "say what works here, what is missing, and what to do" },
  { name: "inspect", args: "<path...>", description: "parse recorded sessions and say what is in them; stores nothing" },
  { name: "import", args: "<path...>", description: "store recorded sessions; folders are walked" },
  { name: "archive", args: "[folder...]", description: "keep copies of what agents recorded, before they delete it" },
  { name: "redact", args: "<path...>", description: "write copies of recorded sessions without their secrets" },
  { name: "sessions", args: "[word...]", description: "list the stored sessions, or search them" },
  { name: "label", args: "<session> <outcome>", description: "say how a stored session ended" },
  { name: "preview", args: "<session...>", description: "show what a training would learn from, before any training" },
  { name: "train", args: "[session...]", description: "train an adapter on stored sessions" },
  { name: "sweep", args: "[session...]", description: "train with several settings, and keep what does best on held-out text" },
  { name: "jobs", description: "list the jobs, newest first, and what a stopped service left" },
  { name: "job", args: "<id>", description: "show a job, or follow it to its end" },
  { name: "cancel", args: "<id>", description: "cancel a queued or running job" },
  { name: "salvage", args: "<id>", description: "make a partial adapter of what a cancelled or failed training had learned" },
  { name: "adapters", description: "list the adapters, newest first" },
  { name: "adapter", args: "<id>", description: "show an adapter and its proof" },
  {
    name: "evaluate",
    args: "<adapter>",
    description: "measure whether an adapter helps, on sessions that it was not trained on or on tasks",
  },
  { name: "tasks", description: "list, add, remove or check tasks: what agents are measured by", optionless: true },
  {
    name: "project",
    args: "<name>",
    description: "train on a repository's sessions as they come, and keep the adapter that is proved to be no worse",
  },
  { name: "projects", description: "list the projects with their latest adapters and last verdicts" },
  { name: "export", args: "[id]", description: "write an adapter as other programs load it, or a base model for llama.cpp" },
  {
    name: "export-sessions",
    args: "[session...]",
    description: "write stored sessions as a data set: messages and tools, ATIF, or a folder for a hub",
  },
  { name: "upgrade", description: "make this machine and the data directory ready for a newer Imprint; a copy is kept" },
  { name: "uninstall", description: "remove what setup installed; sessions and adapters stay unless told" },
  { name: "delete", args: "<id...>", description: "delete stored sessions, archive adapters, or forget projects" },
  { name: "push", args: "<id> <repo>", description: "upload an adapter to a model hub" },
  { name: "chat", args: "<adapter>", description: "talk to an adapter, or to a base model" },
  {
    name: "launch",
    args: "<agent> <adapter> [args...]",
    description: "start a coding agent on an adapter; your settings of it stay as they are",
  },
  { name: "mcp", description: "let agents search sessions and follow trainings, over MCP" },
  { name: "models", description: "list, fetch, add or remove base models, and choose the default one", optionless: true },
  {
    name: "hypernetworks",
    description: "list, measure or convert hypernetworks: what makes an adapter in one forward pass",
    optionless: true,
  },
] as const satisfies readonly CommandName[];
