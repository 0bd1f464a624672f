/** A JavaScript service whose routes are files, code that a tool generates from them, and notes that a tool takes. */
export function service(draw, { name, number }) {
  const dir = draw.pick(["routes", "endpoints", "api"]);
  const gen = draw.pick(["tools/gen.mjs", "scripts/generate.mjs", "tools/build.mjs"]);
  const test = draw.pick(["test.mjs", "tools/test.mjs"]);
  const rules = draw.pick(["CONTRIBUTING.md", "GUIDE.md"]);
  const log = draw.pick(["API-CHANGES.md", "HISTORY.md"]);
  const line = draw.pick(["- `/{name}`: {what}", "| {name} | {what} |", "{name} = {what}"]);
  const made = draw.pick(["src/routes.mjs", "src/table.mjs"]);
  const role = draw.pool("admin editor viewer auditor manager partner courier teacher driver doctor player seller".split(" "));
  const METHODS = ["POST", "PUT", "PATCH", "DELETE"];
  const entity = () => ({ name: name(), timeout: 1000 + number(), role: draw.pick(["staff", "guest"]), method: "GET" });
  const file = (one) => `${dir}/${one.name}.json`;
  const field = (key, said, value) => ({
    name: key,
    said,
    of: (one) => {
      const found = value();
      const shown = (it) => (key === "timeout" ? it : `"${it}"`);
      return {
        value: found,
        what: `${key} ${found}`,
        edits: [
          [`sed -i 's/${one[key]}/${found}/' ${file(one)}`],
          [`sed -i 's/"${key}": ${shown(one[key])}/"${key}": ${shown(found)}/' ${file(one)}`],
        ],
      };
    },
  });
  return {
    rules,
    check: `node ${test}`,
    log,
    line,
    entity,
    files: (all) => ({
      "README.md": `# Service\n\nRoutes are in ${dir}/, code in src/. See ${rules}.\n`,
      [rules]: `# How we change routes

* A route is a file, ${dir}/NAME.json. Nobody edits ${made}: node ${gen} writes it.
* ${log} gets a line for each change: ${line.replace("{name}", "NAME").replace("{what}", "WHAT")}
  WHAT is: timeout 9999, role somebody, method POST, added
* node ${test} has to pass.
`,
      [log]: "# Routes\n\n",
      ...Object.fromEntries(
        all.map((one) => [
          file(one),
          `{\n  "path": "/${one.name}",\n  "method": "${one.method}",\n  "timeout": ${one.timeout},\n  "role": "${one.role}"\n}\n`,
        ]),
      ),
      [gen]: `import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
const routes = readdirSync("${dir}").sort().map((file) => JSON.parse(readFileSync("${dir}/" + file, "utf8")));
const text = "// Generated\\nexport const ROUTES = [\\n" + routes.map((one) => "  " + JSON.stringify(one) + ",\\n").join("") + "];\\n";
if (process.argv[2] === "--text") process.stdout.write(text);
else {
  mkdirSync("src", { recursive: true });
  writeFileSync("${made}", text);
  console.log("${made}: " + routes.length + " routes");
}
`,
      [test]: `import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
for (const file of readdirSync("${dir}")) {
  const { path } = JSON.parse(readFileSync("${dir}/" + file, "utf8"));
  if (path !== "/" + file.replace(".json", "")) throw new Error("${dir}/" + file + " has another path: " + path);
}
const made = execFileSync("node", ["${gen}", "--text"], { encoding: "utf8" });
if (readFileSync("${made}", "utf8") !== made) {
  console.log("${made} is old: node ${gen}");
  process.exit(1);
}
console.log("ok");
`,
    }),
    prepare: [`node ${gen}`],
    executable: [],
    look: (one) => `cat ${file(one)}`,
    astray: (one) => [`cat src/${one.name}.mjs`, `ls ${dir}`],
    finish: () => [["generate", `node ${gen}`]],
    families: [
      field(
        "timeout",
        [
          "{name} times out too early or late: make it {value}.",
          "Give {name} a timeout of {value}.",
          "The timeout of {name} should be {value}.",
          "Please set {value} as timeout of {name}.",
        ],
        () => 1000 + number(),
      ),
      field(
        "role",
        [
          "{name} is for the role {value} from now on.",
          "Let the role {value} call {name}.",
          "Change the role of {name} to {value}.",
          "Who calls {name} must have the role {value}.",
        ],
        role,
      ),
      {
        name: "add",
        said: [
          "Add a route {value} that is like {name}.",
          "We need a route {value}, the same as {name}.",
          "Make a copy of the route {name}, called {value}.",
          "Please add {value}: all as in {name}.",
        ],
        of: (one) => {
          const value = name();
          return {
            value,
            subject: value,
            what: "added",
            edits: [
              [`sed 's/${one.name}/${value}/' ${file(one)} > ${dir}/${value}.json`],
              [`cp ${file(one)} ${dir}/${value}.json`, `sed -i 's/${one.name}/${value}/' ${dir}/${value}.json`],
            ],
          };
        },
      },
      field("method", ["{name} has to be called with {value}.", "Change the method of {name} to {value}."], () =>
        draw.pick(METHODS),
      ),
    ],
  };
}
