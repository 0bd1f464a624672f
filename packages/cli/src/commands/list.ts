import type { Entry } from "./entry.js";

/** Every command, in the order of the help. */
export const COMMANDS: readonly Entry[] = [
  {
    name: "serve",
    description: "run the service until Ctrl-C",
    load: async () => (await import("./serve.js")).serveCommand,
  },
  {
    name: "doctor",
    args: "[session]",
    description: "say what works here, what is missing, and what to do",
    load: async () => (await import("./doctor.js")).doctorCommand,
  },
  {
    name: "inspect",
    args: "<path...>",
    description: "parse recorded sessions and say what is in them; stores nothing",
    load: async () => (await import("./inspect.js")).inspectCommand,
  },
  {
    name: "import",
    args: "<path...>",
    description: "store recorded sessions; folders are walked",
    load: async () => (await import("./import.js")).importCommand,
  },
  {
    name: "sessions",
    args: "[word...]",
    description: "list the stored sessions, or search them",
    load: async () => (await import("./sessions.js")).sessionsCommand,
  },
  {
    name: "label",
    args: "<session> <outcome>",
    description: "say how a stored session ended",
    load: async () => (await import("./label.js")).labelCommand,
  },
  {
    name: "preview",
    args: "<session...>",
    description: "show what a training would learn from, before any training",
    load: async () => (await import("./preview.js")).previewCommand,
  },
  {
    name: "train",
    args: "[session...]",
    description: "train an adapter on stored sessions",
    load: async () => (await import("./train.js")).trainCommand,
  },
  {
    name: "sweep",
    args: "[session...]",
    description: "train with several settings, and keep what does best on held-out text",
    load: async () => (await import("./sweep.js")).sweepCommand,
  },
  {
    name: "jobs",
    description: "list the jobs, newest first",
    load: async () => (await import("./jobs.js")).jobsCommand,
  },
  {
    name: "job",
    args: "<id>",
    description: "show a job, or follow it to its end",
    load: async () => (await import("./job.js")).jobCommand,
  },
  {
    name: "cancel",
    args: "<id>",
    description: "cancel a queued or running job",
    load: async () => (await import("./cancel.js")).cancelCommand,
  },
  {
    name: "salvage",
    args: "<id>",
    description: "make a partial adapter of what a cancelled or failed training had learned",
    load: async () => (await import("./salvage.js")).salvageCommand,
  },
  {
    name: "adapters",
    description: "list the adapters, newest first",
    load: async () => (await import("./adapters.js")).adaptersCommand,
  },
  {
    name: "adapter",
    args: "<id>",
    description: "show an adapter and its proof",
    load: async () => (await import("./adapter.js")).adapterCommand,
  },
  {
    name: "evaluate",
    args: "<adapter>",
    description: "measure whether an adapter helps on sessions that it was not trained on",
    load: async () => (await import("./evaluate.js")).evaluateCommand,
  },
  {
    name: "project",
    args: "<name>",
    description: "train on a repository's sessions as they come, and keep the adapter that is proved to be no worse",
    load: async () => (await import("./project.js")).projectCommand,
  },
  {
    name: "projects",
    description: "list the projects with their latest adapters and last verdicts",
    load: async () => (await import("./projects.js")).projectsCommand,
  },
  {
    name: "export",
    args: "[id]",
    description: "write an adapter as other programs load it, or a base model for llama.cpp",
    load: async () => (await import("./export.js")).exportCommand,
  },
  {
    name: "export-sessions",
    args: "[session...]",
    description: "write stored sessions as a data set: messages and tools, ATIF, or a folder for a hub",
    load: async () => (await import("./export-sessions.js")).exportSessionsCommand,
  },
  {
    name: "delete",
    args: "<id...>",
    description: "delete stored sessions, archive adapters, or forget projects",
    load: async () => (await import("./delete.js")).deleteCommand,
  },
  {
    name: "push",
    args: "<id> <repo>",
    description: "upload an adapter to a model hub",
    load: async () => (await import("./push.js")).pushCommand,
  },
  {
    name: "privacy",
    args: "<adapter>",
    description: "plant made-up secrets in a copy of an adapter's sessions, train again, and see whether they come back",
    load: async () => (await import("./privacy.js")).privacyCommand,
  },
  {
    name: "chat",
    args: "<adapter>",
    description: "talk to an adapter, or to a base model",
    load: async () => (await import("./chat.js")).chatCommand,
  },
  {
    name: "launch",
    args: "<agent> <adapter> [args...]",
    description: "start a coding agent on an adapter; your settings of it stay as they are",
    load: async () => (await import("./launch.js")).launchCommand,
  },
  {
    name: "models",
    description: "list the models that chat and training know",
    load: async () => (await import("./models.js")).modelsCommand,
  },
  {
    name: "hypernetworks",
    description: "list, measure or convert hypernetworks: what makes an adapter in one forward pass",
    group: true,
    load: async () => (await import("./hypernetworks.js")).hypernetworksCommand,
  },
  {
    name: "completion",
    args: "<shell>",
    description: "print what makes a shell complete commands and flags: bash, zsh or fish",
    load: async () => {
      const { completionCommand } = await import("./completion.js");
      return (context) => completionCommand(context, COMMANDS);
    },
  },
];
