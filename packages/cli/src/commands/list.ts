import type { Command } from "commander";
import type { CommandContext } from "../context.js";
import type { COMMANDS } from "./names.js";

/** Where each command is: its module is loaded when it is called. */
export const LOADERS: Readonly<Record<(typeof COMMANDS)[number]["name"], () => Promise<(context: CommandContext) => Command>>> = {
  setup: async () => (await import("./setup.js")).setupCommand,
  demo: async () => (await import("./setup.js")).demoCommand,
  uninstall: async () => (await import("./uninstall.js")).uninstallCommand,
  serve: async () => (await import("./serve.js")).serveCommand,
  doctor: async () => (await import("./doctor.js")).doctorCommand,
  inspect: async () => (await import("./inspect.js")).inspectCommand,
  import: async () => (await import("./import.js")).importCommand,
  archive: async () => (await import("./archive.js")).archiveCommand,
  redact: async () => (await import("./redact.js")).redactCommand,
  sessions: async () => (await import("./sessions.js")).sessionsCommand,
  label: async () => (await import("./label.js")).labelCommand,
  preview: async () => (await import("./preview.js")).previewCommand,
  train: async () => (await import("./train.js")).trainCommand,
  sweep: async () => (await import("./sweep.js")).sweepCommand,
  jobs: async () => (await import("./jobs.js")).jobsCommand,
  job: async () => (await import("./job.js")).jobCommand,
  cancel: async () => (await import("./cancel.js")).cancelCommand,
  salvage: async () => (await import("./salvage.js")).salvageCommand,
  adapters: async () => (await import("./adapters.js")).adaptersCommand,
  adapter: async () => (await import("./adapter.js")).adapterCommand,
  evaluate: async () => (await import("./evaluate.js")).evaluateCommand,
  tasks: async () => (await import("./tasks.js")).tasksCommand,
  project: async () => (await import("./project.js")).projectCommand,
  projects: async () => (await import("./projects.js")).projectsCommand,
  export: async () => (await import("./export.js")).exportCommand,
  "export-sessions": async () => (await import("./export-sessions.js")).exportSessionsCommand,
  delete: async () => (await import("./delete.js")).deleteCommand,
  push: async () => (await import("./push.js")).pushCommand,
  chat: async () => (await import("./chat.js")).chatCommand,
  launch: async () => (await import("./launch.js")).launchCommand,
  models: async () => (await import("./models.js")).modelsCommand,
  hypernetworks: async () => (await import("./hypernetworks.js")).hypernetworksCommand,
};
