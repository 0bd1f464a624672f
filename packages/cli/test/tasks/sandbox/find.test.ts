import { chmod, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { UsageError } from "../../../src/errors.js";
import { systemIo } from "../../../src/io.js";
import { findSandbox } from "../../../src/tasks/sandbox/find.js";
import { emptyFolder, LIMITS } from "../support.js";

/** A folder of programs by their names, each a script of sh. */
async function programs(scripts: Readonly<Record<string, string>>): Promise<string> {
  const folder = await emptyFolder();
  for (const [name, script] of Object.entries(scripts)) {
    await writeFile(path.join(folder, name), `#!/bin/sh\n${script}\n`);
    await chmod(path.join(folder, name), 0o755);
  }
  return folder;
}

const find = (PATH: string, noSandbox = false) => findSandbox({ io: { ...systemIo(), env: { PATH } }, noSandbox });

const NO_DAEMON = 'echo "Cannot connect to the Docker daemon" >&2; exit 1';
/** A container engine that writes what it is asked for, and runs nothing. */
const ENGINE = 'echo "$@" >> "$0.log"\ncase $1 in image) exit 1;; import) cat > "$0.tar";; run) echo ran; exit $RESULT;; esac';

describe("a sandbox is found", () => {
  it("nowhere: the sentence names the remedies", async () => {
    const finding = find(await programs({}));
    await expect(finding).rejects.toBeInstanceOf(UsageError);
    await expect(finding).rejects.toThrow(
      /^neither bubblewrap nor podman nor docker is here.*\napt-get install bubblewrap .*, or --no-sandbox/,
    );
  });

  it("in none that does not work, and each says why", async () => {
    const folder = await programs({
      bwrap: 'echo "bwrap: No permissions to create new namespace" >&2; exit 1',
      docker: NO_DAEMON,
    });
    await expect(find(folder)).rejects.toThrow(
      /bwrap does not work here: .*No permissions to create new namespace\ndocker does not work here: Cannot connect to the Docker daemon\napt-get install/,
    );
  });

  it("in podman before docker, and in docker where podman does not work", async () => {
    expect((await find(await programs({ podman: ENGINE, docker: ENGINE }))).name).toBe("podman");
    expect((await find(await programs({ podman: NO_DAEMON, docker: ENGINE }))).name).toBe("docker");
  });

  it("in nothing that protects, where that is asked for: even beside one that works", async () => {
    expect((await find(await programs({ podman: ENGINE }), true)).name).toBe("none");
  });
});

it("a container engine makes an empty image where it has none, runs a request in it, and removes what is left", async () => {
  const folder = await programs({ docker: ENGINE });
  const sandbox = await find(folder);
  const request = { command: ["true"], workspace: folder, port: null, limits: LIMITS } as const;
  expect(await sandbox.run(request)).toMatchObject({ code: 0, stopped: null, stdout: "ran\n" });
  const log = (await readFile(path.join(folder, "docker.log"), "utf8")).split("\n").map((line) => line.split(" "));
  const made = log.slice(5).map(([first, second]) => (first === "run" || first === "rm" ? first : `${first} ${second}`));
  expect(made).toEqual(["info undefined", "image inspect", "import -", "run", "rm", " undefined"]);
  expect(log.at(-2)?.[2]).toBe(log.at(-3)?.[3]); // rm --force NAME, run --rm --name NAME
  expect((await readFile(path.join(folder, "docker.tar"))).equals(Buffer.alloc(1024))).toBe(true);
  expect(await sandbox.run({ ...request, env: { RESULT: "3" } })).toMatchObject({ code: 3, stopped: null });
  expect(await sandbox.run({ ...request, env: { RESULT: "137" } })).toMatchObject({ code: null, stopped: "memory" });
  await expect(sandbox.run({ ...request, env: { RESULT: "125" } })).rejects.toThrow("docker did not start the command");
});
