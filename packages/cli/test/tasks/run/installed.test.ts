import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { installed } from "../../../src/tasks/run/installed.js";

async function folder(): Promise<string> {
  const made = await realpath(await mkdtemp(path.join(tmpdir(), "imprint-installed-")));
  onTestFinished(() => rm(made, { recursive: true }));
  return made;
}

async function program(file: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, "#!/bin/sh\n");
  await chmod(file, 0o755);
}

const find = (bin: string) => installed({ program: "agent", install: "install it" }, { PATH: `/nowhere${path.delimiter}${bin}` });

it("an agent of Python needs its virtual environment, and the Python that this is made of", async () => {
  const root = await folder();
  const [venv, python] = [path.join(root, "venv"), path.join(root, "python-3", "bin", "python3")];
  await program(path.join(venv, "bin", "agent"));
  await program(python);
  await writeFile(path.join(venv, "pyvenv.cfg"), "");
  await symlink(python, path.join(venv, "bin", "python"));
  await mkdir(path.join(root, "bin"));
  await symlink(path.join(venv, "bin", "agent"), path.join(root, "bin", "agent"));
  const found = find(path.join(root, "bin"));
  expect(found.program).toBe(path.join(root, "bin", "agent"));
  expect(found.readable).toEqual(expect.arrayContaining([found.program, venv, path.join(root, "python-3")]));
});

it("an agent of Node needs the packages that it lies among", async () => {
  const root = await folder();
  const modules = path.join(root, "node_modules");
  await program(path.join(modules, "agent", "node_modules", "inner", "cli.js"));
  await mkdir(path.join(modules, ".bin"));
  await symlink("../agent/node_modules/inner/cli.js", path.join(modules, ".bin", "agent"));
  const { readable, path: folders } = find(path.join(modules, ".bin"));
  expect(readable).toContain(modules);
  expect(folders).toEqual([path.join(modules, ".bin"), path.dirname(process.execPath)]);
});

it("another program is all that is shown of its folder, and one that is not there says what installs it", async () => {
  const root = await folder();
  await program(path.join(root, "agent"));
  expect(find(root).readable).toContain(path.join(root, "agent"));
  expect(find(root).readable).not.toContain(root);
  expect(() => find(path.join(root, "none"))).toThrow("agent is not installed, or not on the PATH: install it");
});
