import type { ChildProcessWithoutNullStreams, SpawnOptions } from "node:child_process";

export type Spawn = (file: string, args: readonly string[], options: SpawnOptions) => ChildProcessWithoutNullStreams;
