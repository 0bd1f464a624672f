/** Tables with versioned schemas, a catalog that a tool writes, and a file of migrations. */
export function pipeline(draw, { name, column }) {
  const dir = draw.pick(["schemas", "tables", "models"]);
  const tool = draw.pick(["tools/bump.py", "bin/version.py", "tools/raise.py"]);
  const check = draw.pick(["check.py", "tools/verify.py"]);
  const rules = draw.pick(["CONTRIBUTING.md", "SCHEMAS.md", "PROCESS.md"]);
  const log = draw.pick(["migrations.txt", "migrations.log", "MIGRATIONS.md"]);
  const line = draw.pick(["{name}: {what}", "{name} ; {what}", "* {what} @ {name}"]);
  const TYPES = ["int", "float", "text", "date"];
  const entity = () => ({ name: name(), version: 2 + draw.below(7), columns: [column(), column()] });
  const file = (one) => `${dir}/${one.name}.txt`;
  return {
    rules,
    check: `python3 ${check}`,
    log,
    line,
    entity,
    files: (all) => ({
      "README.md": `# Pipeline\n\nA table is a file of ${dir}/. Read ${rules} before you change one.\n`,
      [rules]: `# Schemas

- After each change of ${dir}/NAME.txt run python3 ${tool} NAME: it raises the version and writes catalog.txt.
  Nobody does that by hand, and nobody does it twice.
- Each change is a line of ${log}: ${line.replace("{name}", "NAME").replace("{what}", "WHAT")}
  WHAT is: add COLUMN TYPE, rename OLD NEW, drop COLUMN, type COLUMN TYPE
- A type is ${TYPES.join(", ")}.
- python3 ${check} compares all of it.
`,
      [log]: "# Migrations\n",
      ...Object.fromEntries(
        all.map((one) => [
          file(one),
          `table: ${one.name}\nversion: ${one.version}\n${one.columns.map((of, at) => `${of}: ${TYPES[(at + one.version) % 2]}\n`).join("")}`,
        ]),
      ),
      [tool]: `import pathlib, sys
def catalog():
    return "".join(one.read_text().replace("\\n", " ").strip() + "\\n" for one in sorted(pathlib.Path("${dir}").glob("*.txt")))
if __name__ == "__main__":
    for name in sys.argv[1:]:
        file = pathlib.Path("${dir}", name + ".txt")
        lines = file.read_text().splitlines()
        lines[1] = f"version: {int(lines[1].split()[1]) + 1}"
        file.write_text("\\n".join(lines) + "\\n")
        print(name, lines[1])
    pathlib.Path("catalog.txt").write_text(catalog())
`,
      [check]: `import pathlib, runpy, subprocess, sys
if pathlib.Path("catalog.txt").read_text() != runpy.run_path("${tool}")["catalog"]():
    sys.exit("catalog.txt is old: python3 ${tool} NAME")
for one in pathlib.Path("${dir}").glob("*.txt"):
    for line in one.read_text().splitlines()[2:]:
        if line.split(": ")[1] not in ${JSON.stringify(TYPES)}:
            sys.exit(f"{one}: {line} has no known type")
print("schemas agree")
`,
    }),
    prepare: [`python3 ${tool}`],
    executable: [],
    look: (one) => `cat ${file(one)}`,
    astray: (one) => [`cat ${one.name}.txt`, `ls ${dir}`],
    finish: (one) => [["raise", `python3 ${tool} ${one.name}`]],
    families: [
      {
        name: "add",
        said: [
          "{name} gets a column {value} of type {type}.",
          "Add the {type} column {value} to {name}.",
          "Please add a column {value} ({type}) to the table {name}.",
          "The table {name} needs {value}, which is {type}.",
        ],
        of: (one) => {
          const [value, type] = [column(), draw.pick(TYPES)];
          const edits = [[`echo '${value}: ${type}' >> ${file(one)}`], [`sed -i '$a ${value}: ${type}' ${file(one)}`]];
          return { value, type, what: `add ${value} ${type}`, edits };
        },
      },
      {
        name: "rename",
        said: [
          "The column {old} of {name} is called {value} now.",
          "Rename {old} in {name} to {value}.",
          "In the table {name}, {old} should be named {value}.",
          "Please give {old} of {name} the name {value}.",
        ],
        of: (one) => {
          const [old, value] = [one.columns[0], column()];
          const edits = [[`sed -i 's/^${old}:/${value}:/' ${file(one)}`], [`sed -i 's/${old}/${value}/' ${file(one)}`]];
          return { old, value, what: `rename ${old} ${value}`, edits };
        },
      },
      {
        name: "drop",
        said: [
          "Drop the column {value} of {name}.",
          "{name} has no use for {value}: drop it.",
          "Please remove {value} from the table {name}.",
          "Nobody reads {value} of {name}, take it out.",
        ],
        of: (one) => {
          const value = one.columns[1];
          const edits = [[`sed -i '/^${value}:/d' ${file(one)}`], [`sed -i '/${value}/d' ${file(one)}`]];
          return { value, what: `drop ${value}`, edits };
        },
      },
      {
        name: "type",
        said: ["Change the type of {value} in {name} to {type}.", "{value} of the table {name} should be of type {type}."],
        of: (one) => {
          const [value, type] = [one.columns[0], draw.pick(["text", "date"])];
          return {
            value,
            type,
            what: `type ${value} ${type}`,
            edits: [[`sed -i 's/^${value}: .*/${value}: ${type}/' ${file(one)}`]],
          };
        },
      },
    ],
  };
}
