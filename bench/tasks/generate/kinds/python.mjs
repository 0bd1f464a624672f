/** A Python package whose own test runner keeps what each module gives, and notes of changes, a file each. */
export function python(draw, { name, number }) {
  const pack = draw.pick(["tariff", "rates", "prices"]);
  const runner = draw.pick(["run_tests.py", "tools/test.py", "tests/run.py"]);
  const accept = draw.pick(["--accept", "--record", "--keep"]);
  const rules = draw.pick(["CONTRIBUTING.md", "DEVELOPING.md", "HACKING.md"]);
  const notes = draw.pick(["changes", "notes", "news"]);
  const line = draw.pick(["changed: {what}", "{what} ({name})", "{name}: {what}"]);
  const limit = () => 1000 + number();
  const entity = () => ({ name: name(), rate: 10 + draw.below(80), limit: limit(), fee: 10 + draw.below(80) });
  const file = (one) => `${pack}/${one.name}.py`;
  const field = (title, said, value) => ({
    name: title.toLowerCase(),
    said,
    of: (one) => {
      const found = value();
      return {
        value: found,
        what: `${title} ${found}`,
        edits: [
          [`sed -i 's/^${title} = .*/${title} = ${found}/' ${file(one)}`],
          [`sed -i 's/${title} = ${one[title.toLowerCase()]}/${title} = ${found}/' ${file(one)}`],
        ],
      };
    },
  });
  return {
    rules,
    check: `python3 ${runner}`,
    log: `${notes}/{name}.txt`,
    line,
    entity,
    files: (all) => ({
      "README.md": `# ${pack}\n\nA module a price. Who changes one reads ${rules} first.\n`,
      [rules]: `# Working on ${pack}

- ${pack}/__init__.py imports every module.
- cases/NAME.txt holds what a module gives. After a change: python3 ${runner} ${accept} NAME
- Each change has a note, ${notes}/NAME.txt, of one line: ${line.replace("{name}", "NAME").replace("{what}", "WHAT")}
  WHAT is: RATE 99, LIMIT 999, FEE 99, dropped
- python3 ${runner} runs the tests.
`,
      [`${pack}/__init__.py`]: all.map((one) => `from . import ${one.name}\n`).join(""),
      [`${notes}/README.txt`]: "A note a change.\n",
      ...Object.fromEntries(
        all.map((one) => [
          file(one),
          `"""Price of ${one.name}."""\n\nRATE = ${one.rate}\nLIMIT = ${one.limit}\nFEE = ${one.fee}\n\n\ndef price(count):\n    return min(count, LIMIT) * RATE + FEE\n`,
        ]),
      ),
      [runner]: `import importlib, pathlib, sys
sys.path.insert(0, ".")
sys.dont_write_bytecode = True
names = sorted(one.stem for one in pathlib.Path("${pack}").glob("*.py") if one.stem != "__init__")
def given(name):
    price = importlib.import_module("${pack}." + name).price
    return f"price(3) = {price(3)}\\nprice(9999) = {price(9999)}\\n"
if sys.argv[1:2] == ["${accept}"]:
    pathlib.Path("cases", sys.argv[2] + ".txt").write_text(given(sys.argv[2]))
    sys.exit(print("kept what", sys.argv[2], "gives"))
listed = sorted(line.split()[-1] for line in pathlib.Path("${pack}/__init__.py").read_text().splitlines())
if listed != names:
    sys.exit("${pack}/__init__.py does not import what is there")
if sorted(one.stem for one in pathlib.Path("cases").glob("*.txt")) != names:
    sys.exit("cases/ does not hold a file for each module")
for name in names:
    if pathlib.Path("cases", name + ".txt").read_text() != given(name):
        sys.exit(f"FAILED cases/{name}.txt: python3 ${runner} ${accept} {name}")
print(f"{len(names)} passed")
`,
    }),
    prepare: [
      "mkdir -p cases",
      `for file in ${pack}/*.py; do name=$(basename $file .py); [ $name = __init__ ] || python3 ${runner} ${accept} $name; done`,
    ],
    executable: [],
    look: (one) => `cat ${file(one)}`,
    astray: (one) => [`cat ${one.name}.py`, `ls ${pack}`],
    finish: (one, family) => (family === "drop" ? [] : [["record", `python3 ${runner} ${accept} ${one.name}`]]),
    families: [
      field(
        "RATE",
        [
          "The rate of {name} is {value} now.",
          "Raise or lower {name} to a rate of {value}.",
          "Please set the rate of {name} to {value}.",
          "{name} should cost {value} each: change its rate.",
        ],
        () => 100 + number(),
      ),
      field(
        "LIMIT",
        [
          "Cap {name} at {value}.",
          "The limit of {name} has to be {value}.",
          "Change the limit of {name} to {value}.",
          "No more than {value} of {name}: set its limit.",
        ],
        limit,
      ),
      {
        name: "drop",
        said: [
          "Drop {name} from the package.",
          "We sell no {name} any more: drop the module.",
          "Please delete the module {name}.",
          "{name} is obsolete, remove it.",
        ],
        of: (one) => ({
          what: "dropped",
          edits: [
            [`rm ${file(one)} cases/${one.name}.txt`, `sed -i '/import ${one.name}$/d' ${pack}/__init__.py`],
            [`git rm -q ${file(one)} cases/${one.name}.txt`, `sed -i '/import ${one.name}$/d' ${pack}/__init__.py`],
          ],
        }),
      },
      field("FEE", ["The fee of {name} is {value} from today.", "Please make {value} the fee of {name}."], () => 100 + number()),
    ],
  };
}
