/** Services as files, a lock that a tool writes, a list of ports, and a log of changes. */
export function operations(draw, { name, person, number }) {
  const dir = draw.pick(["services", "units", "deploy"]);
  const lock = draw.pick(["tools/lock", "bin/seal", "tools/pin"]);
  const rules = draw.pick(["CONTRIBUTING.md", "RULES.md", "HOUSE.md"]);
  const log = draw.pick(["CHANGES.md", "NEWS.md", "log.txt"]);
  const line = draw.pick(["- {name}: {what}", "* [{name}] {what}", "{name} -> {what}"]);
  const check = "tools/check";
  const port = () => 8000 + number();
  const entity = () => ({ name: name(), port: port(), owner: person(), memory: 64 * (2 + draw.below(6)) });
  const file = (one) => `${dir}/${one.name}.yaml`;
  return {
    rules,
    check: `python3 ${check}`,
    log,
    line,
    entity,
    files: (all) => ({
      "README.md": `# Operations\n\nOne file a service in ${dir}/. How changes are made: ${rules}\n`,
      [rules]: `# House rules

1. A port is used once, and is listed in ports.txt too.
2. After any change in ${dir}/ run ./${lock}
3. Every change adds one line to ${log}: ${line.replace("{name}", "NAME").replace("{what}", "WHAT")}
   WHAT is: port 8999, owner somebody, memory 999, retired
4. python3 ${check} says whether all is well.
`,
      "ports.txt": all.map((one) => `${one.port} ${one.name}\n`).join(""),
      [log]: "# What changed\n",
      ...Object.fromEntries(
        all.map((one) => [file(one), `name: ${one.name}\nport: ${one.port}\nowner: ${one.owner}\nmemory: ${one.memory}\n`]),
      ),
      [lock]: `#!/usr/bin/env python3
import pathlib, zlib
files = sorted(pathlib.Path("${dir}").glob("*.yaml"))
pathlib.Path("${dir}.lock").write_text("".join(f"{one.stem} {zlib.crc32(one.read_bytes())}\\n" for one in files))
print(f"locked {len(files)} files of ${dir}")
`,
      [check]: `#!/usr/bin/env python3
import pathlib, sys, zlib
files = sorted(pathlib.Path("${dir}").glob("*.yaml"))
lock = "".join(f"{one.stem} {zlib.crc32(one.read_bytes())}\\n" for one in files)
fields = [dict(line.split(": ") for line in one.read_text().splitlines()) for one in files]
ports = sorted(f"{one['port']} {one['name']}" for one in fields)
if ports != sorted(pathlib.Path("ports.txt").read_text().splitlines()):
    sys.exit("ports.txt does not list the ports of ${dir}")
if pathlib.Path("${dir}.lock").read_text() != lock:
    sys.exit("the lock is old: run ./${lock}")
print("all is well")
`,
    }),
    prepare: [`python3 ${lock}`],
    executable: [lock, check],
    look: (one) => `cat ${file(one)}`,
    astray: (one) => [`cat ${dir}/${one.name}.yml`, `ls ${dir}`],
    finish: () => [["lock", `./${lock}`]],
    families: [
      {
        name: "port",
        said: [
          "Move {name} to port {value}.",
          "{name} has to listen on port {value} from now on.",
          "Please change the port of {name} to {value}.",
          "Port {value} is for {name} now: set it.",
        ],
        of: (one) => {
          const value = port();
          return {
            value,
            what: `port ${value}`,
            edits: [
              [`sed -i 's/${one.port}/${value}/' ${file(one)} ports.txt`],
              [`sed -i 's/^port: .*/port: ${value}/' ${file(one)}`, `sed -i 's/^${one.port} /${value} /' ports.txt`],
            ],
          };
        },
      },
      {
        name: "owner",
        said: [
          "{value} takes over {name}.",
          "Make {value} the owner of {name}.",
          "The owner of {name} should be {value}.",
          "Give {name} to {value}, who owns it now.",
        ],
        of: (one) => {
          const value = person();
          return {
            value,
            what: `owner ${value}`,
            edits: [
              [`sed -i 's/^owner: .*/owner: ${value}/' ${file(one)}`],
              [`sed -i 's/owner: ${one.owner}/owner: ${value}/' ${file(one)}`],
            ],
          };
        },
      },
      {
        name: "retire",
        said: [
          "Retire {name}.",
          "{name} is not needed any more: take it out.",
          "Please remove the service {name}.",
          "We switch {name} off for good: retire it.",
        ],
        of: (one) => ({
          what: "retired",
          edits: [
            [`rm ${file(one)}`, `sed -i '/ ${one.name}$/d' ports.txt`],
            [`git rm -q ${file(one)}`, `sed -i '/ ${one.name}$/d' ports.txt`],
          ],
        }),
      },
      {
        name: "memory",
        said: ["Set the memory of {name} to {value}.", "{name} needs a memory of {value}."],
        of: (one) => {
          const value = 64 * (8 + draw.below(24));
          return { value, what: `memory ${value}`, edits: [[`sed -i 's/^memory: .*/memory: ${value}/' ${file(one)}`]] };
        },
      },
    ],
  };
}
