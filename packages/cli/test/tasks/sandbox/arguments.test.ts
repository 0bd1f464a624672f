import { realpathSync } from "node:fs";
import { symlink } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import { describe, expect, it, vi } from "vitest";
import { bubblewrapArguments } from "../../../src/tasks/sandbox/bubblewrap.js";
import { containerArguments } from "../../../src/tasks/sandbox/container.js";
import { environment, visible } from "../../../src/tasks/sandbox/inside.js";
import type { SandboxRequest } from "../../../src/tasks/sandbox.js";
import { emptyFolder, LIMITS, toolchainsIn, writeFiles } from "../support.js";

const REQUEST: SandboxRequest = {
  command: ["sh", "-c", "true"],
  workspace: "/work/a b",
  readable: ["/agents/mini"],
  env: { TOKEN: "secret" },
  port: null,
  limits: LIMITS,
};

/** The arguments that follow a flag, each time it stands there. */
const after = (args: readonly string[], flag: string, many: number): readonly string[] =>
  args.flatMap((arg, index) => (arg === flag ? [args.slice(index + 1, index + 1 + many).join(" ")] : []));

/** Folders that a sandbox must not show, whatever machine it is. */
const HIDDEN = [
  "/",
  "/etc",
  "/etc/shadow",
  "/etc/ssl",
  "/etc/ssh",
  "/home",
  "/var",
  "/run",
  "/tmp",
  "/sys",
  "/proc",
  "/mnt",
  "/srv",
  homedir(),
];

describe("bubblewrap", () => {
  const args = bubblewrapArguments(REQUEST, "/own");

  it("is asked for no network, no capability, an own user, and an end with who started it", () => {
    for (const flag of ["--unshare-all", "--die-with-parent", "--new-session"]) expect(args).toContain(flag);
    expect([after(args, "--cap-drop", 1), after(args, "--uid", 1), after(args, "--share-net", 0)]).toEqual([
      ["ALL"],
      ["1000"],
      [],
    ]);
  });

  it("binds one folder to be written, the rest to be read, and none of those that hold what is private", () => {
    expect(after(args, "--bind", 2)).toEqual(["/work/a b /work/a b"]);
    const shown = after(args, "--ro-bind", 2);
    expect(shown).toContain("/agents/mini /agents/mini");
    expect(shown.map((one) => one.split(" ")[0]).filter((place) => HIDDEN.includes(place ?? ""))).toEqual([]);
    expect(after(args, "--remount-ro", 1)).toEqual(["/dev", "/"]);
  });

  it("bounds what is in memory and what is in a file, and writes no value of the environment in its arguments", () => {
    expect(after(args, "--size", 3)).toEqual([`${64 * 2 ** 20} --tmpfs /dev/shm`, `${64 * 2 ** 20} --tmpfs /tmp`]);
    expect(args.join(" ")).toMatch(
      /ulimit -c 0; ulimit -f 131072; ulimit -p 512 2>\/dev\/null \|\| ulimit -u 512;.*exec "\$@" sh sh -c true$/,
    );
    expect(args.join(" ")).not.toContain("secret");
  });

  it("gets the relay's socket and starts the relay where a port may be reached, and only there", () => {
    const relayed = bubblewrapArguments({ ...REQUEST, port: 8011 }, "/own");
    expect(after(relayed, "--ro-bind", 2)).toContain("/own/imprint.sock /etc/imprint.sock");
    expect(relayed.slice(-6)).toEqual(["--", "8011", "/etc/imprint.sock", "sh", "-c", "true"]);
    expect(args.join(" ")).not.toContain("imprint.sock");
  });
});

describe.each(["podman", "docker"] as const)("%s", (engine) => {
  const made = { engine, name: "imprint-1", own: "/own", uid: 1234, gid: 100 };
  const args = containerArguments(REQUEST, made);

  it("is asked for no network, no capability, no writing but in the workspace, and for the same limits", () => {
    const line = args.join(" ");
    for (const part of [
      "run --rm --name imprint-1 --network none --read-only",
      "--pull never",
      "--cap-drop ALL --security-opt no-new-privileges",
      "--user 1234:100",
      "--pids-limit 64 --memory 512m --memory-swap 512m",
      "--tmpfs /tmp:rw,exec,nosuid,nodev,mode=1777,size=64m",
      "--mount type=bind,src=/work/a b,dst=/work/a b --workdir /work/a b",
    ])
      expect(line).toContain(part);
    expect(line.includes("--userns keep-id")).toBe(engine === "podman");
    expect(args.slice(args.indexOf("imprint-sandbox:empty") + 1)[0]).toBe("/bin/sh");
  });

  it("mounts what bubblewrap binds, to be read", () => {
    const mounts = after(args, "--mount", 1).filter((one) => !one.endsWith(",readonly"));
    expect(mounts).toEqual(["type=bind,src=/work/a b,dst=/work/a b"]);
    const shown = after(args, "--mount", 1).flatMap((one) => /dst=([^,]+),readonly$/.exec(one)?.[1] ?? []);
    expect(shown).toEqual(expect.arrayContaining(["/usr", "/bin", "/agents/mini", "/etc/passwd"]));
    expect(shown.filter((place) => HIDDEN.includes(place))).toEqual([]);
  });

  it("takes values of the environment from the client's, and a path with a comma as one", () => {
    toolchainsIn();
    const args = containerArguments(REQUEST, made);
    expect(after(args, "--env", 1)).toEqual([expect.stringMatching(/^PATH=/), "HOME=/tmp/home", "TMPDIR=/tmp", "TOKEN"]);
    expect(args.join(" ")).not.toContain("secret");
    const odd = containerArguments({ ...REQUEST, workspace: '/a,b"c' }, made);
    expect(odd).toContain('type=bind,"src=/a,b""c","dst=/a,b""c"');
    expect(containerArguments({ ...REQUEST, port: 8011 }, made)).toContain(
      "type=bind,src=/own/imprint.sock,dst=/etc/imprint.sock,readonly",
    );
  });
});

describe("Node", () => {
  it("is shown with npm where a version manager put it, alone where it lies among other files, and first on the PATH", async () => {
    const home = await emptyFolder();
    await writeFiles(home, { "v20/bin/node": "", "v20/lib/node_modules/npm/x": "", "bin/node": "", node: "", secret: "" });
    const shown = (node: string): readonly string[] =>
      visible(REQUEST, path.join(home, node)).readOnly.filter((place) => place.startsWith(home));
    expect(shown("v20/bin/node")).toEqual([path.join(home, "v20/bin"), path.join(home, "v20/lib/node_modules")]);
    expect(shown("bin/node")).toEqual([path.join(home, "bin/node")]);
    expect(shown("node")).toEqual([path.join(home, "node")]);
    expect(visible(REQUEST, "/usr/bin/node").readOnly).not.toContain("/usr/bin");
    expect(environment({}).PATH?.split(":")[0]).toBe(path.dirname(realpathSync(process.execPath)));
  });
});

it("the PATH is the user's as far as the sandbox shows it, then the system's", () => {
  vi.stubEnv("PATH", "/home/me/bin:/usr/local/go/bin:/optional:relative::/opt/conda/bin:/usr/bin");
  toolchainsIn();
  const { PATH } = environment({}, "/opt/node/bin/node");
  expect(PATH).toBe(
    "/opt/node/bin:/usr/local/go/bin:/opt/conda/bin:/usr/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/sbin:/bin",
  );
});

it("an empty variable of a toolchain is none: the folder of this process is not shown for it", async () => {
  const home = await emptyFolder();
  await writeFiles(home, { ".cargo/registry/crate": "" });
  toolchainsIn();
  for (const variable of ["GOMODCACHE", "CARGO_HOME", "RUSTUP_HOME"]) vi.stubEnv(variable, "");
  vi.stubEnv("HOME", home);
  expect(environment({})).toMatchObject({ CARGO_HOME: path.join(home, ".cargo") });
  expect(visible(REQUEST).readOnly.filter((place) => !path.isAbsolute(place) || place.startsWith(home))).toEqual([
    path.join(home, ".cargo/registry"),
  ]);
});

it("a virtual environment is shown with the Python that it was made with, where the system has not that one", async () => {
  const home = await emptyFolder();
  await writeFiles(home, {
    "3.11/bin/python3.11": "",
    "own/pyvenv.cfg": "",
    "own/bin/x": "",
    "system/pyvenv.cfg": "",
    "system/bin/x": "",
    "no/bin/python": "",
  });
  await symlink("../../3.11/bin/python3.11", path.join(home, "own/bin/python"));
  await symlink("/bin/sh", path.join(home, "system/bin/python"));
  const shown = (name: string): readonly string[] =>
    visible({ ...REQUEST, readable: [path.join(home, name)] }, "/usr/bin/node").readOnly.filter((place) =>
      place.startsWith(home),
    );
  expect([shown("own"), shown("system"), shown("no")]).toEqual([
    [path.join(home, "own"), path.join(home, "3.11")],
    [path.join(home, "system")],
    [path.join(home, "no")],
  ]);
});
