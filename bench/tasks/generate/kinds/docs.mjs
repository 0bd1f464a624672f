/** A site of pages with rules for their links, a table of links that a tool writes, and a log. */
export function docs(draw, { name, person }) {
  const dir = draw.pick(["pages", "guide", "content"]);
  const tool = draw.pick(["tools/links.py", "tools/map.py", "site/index.py"]);
  const map = draw.pick(["links.txt", "sitemap.txt"]);
  const rules = draw.pick(["CONTRIBUTING.md", "WRITING.md", "STYLE.md"]);
  const summary = draw.pick(["SUMMARY.md", "contents.md"]);
  const log = draw.pick(["log.md", "edits.txt"]);
  const line = draw.pick(["- {name}: {what}", "{name} | {what}", "+ {what} in {name}"]);
  const state = draw.pool("review final frozen archived public internal legal old new hidden checked translated".split(" "));
  const entity = () => ({ name: name(), status: "draft", keeper: person(), next: "start" });
  const file = (one) => `${dir}/${one.name}.md`;
  const field = (key, said, value, shown = (found) => found) => ({
    name: key,
    said,
    of: (one) => {
      const found = value();
      return {
        value: found,
        what: `${key} ${found}`,
        edits: [
          [`sed -i 's/^${key}: .*/${key}: ${shown(found)}/' ${file(one)}`],
          [`sed -i 's/${shown(one[key])}/${shown(found)}/' ${file(one)}`],
        ],
      };
    },
  });
  return {
    rules,
    check: `python3 ${tool} --check`,
    log,
    line,
    entity,
    files: (all) => ({
      "README.md": `# The site\n\nPages are in ${dir}/. ${rules} says how they are changed.\n`,
      [rules]: `# Rules for pages

1. ${summary} names every page. next: is the file of a page that is there.
2. A page is renamed with git mv, and everywhere it is named.
3. Then run python3 ${tool}, which writes ${map}.
4. Then add a line to ${log}: ${line.replace("{name}", "NAME").replace("{what}", "WHAT")}
   WHAT is: status final, next other, keeper somebody, renamed other
5. python3 ${tool} --check looks at all of it.
`,
      [summary]: `# Pages\n\n- [start](${dir}/start.md)\n${all.map((one) => `- [${one.name}](${file(one)})\n`).join("")}`,
      [log]: "# Edits\n",
      [`${dir}/start.md`]: "# start\n\nstatus: final\nkeeper: nobody\nnext: start.md\n",
      ...Object.fromEntries(
        all.map((one) => [file(one), `# ${one.name}\n\nstatus: ${one.status}\nkeeper: ${one.keeper}\nnext: ${one.next}.md\n`]),
      ),
      [tool]: `import pathlib, re, sys
pages = sorted(pathlib.Path("${dir}").glob("*.md"))
text = ""
for page in pages:
    fields = dict(line.split(": ") for line in page.read_text().splitlines() if ": " in line)
    if not (page.parent / fields["next"]).exists():
        sys.exit(f"{page}: there is no {fields['next']}")
    text += f"{page.name} -> {fields['next']} ({fields['status']}, {fields['keeper']})\\n"
if sys.argv[1:] != ["--check"]:
    pathlib.Path("${map}").write_text(text)
    sys.exit(print(f"${map}: {len(pages)} pages"))
named = sorted(re.findall(r"\\((.*?)\\)", pathlib.Path("${summary}").read_text()))
if named != [str(page) for page in pages]:
    sys.exit("${summary} does not name the pages that are there")
if pathlib.Path("${map}").read_text() != text:
    sys.exit("${map} is old: run python3 ${tool}")
print("links are good")
`,
    }),
    prepare: [`python3 ${tool}`],
    executable: [],
    look: (one) => `cat ${file(one)}`,
    astray: (one) => [`cat ${one.name}.md`, `ls ${dir}`],
    finish: () => [["map", `python3 ${tool}`]],
    families: [
      field(
        "status",
        [
          "The page {name} is {value} now.",
          "Mark {name} as {value}.",
          "Set the status of {name} to {value}.",
          "Please call the page {name} {value}: that is its status.",
        ],
        state,
      ),
      {
        name: "rename",
        said: [
          "Rename the page {name} to {value}.",
          "{name} should be called {value}.",
          "The page {name} gets the name {value}.",
          "Please move {name} to {value}.",
        ],
        of: (one) => {
          const value = name();
          const both = [`sed -i 's/${one.name}/${value}/g' ${summary} ${dir}/${value}.md`];
          return {
            value,
            what: `renamed ${value}`,
            edits: [
              [`git mv ${file(one)} ${dir}/${value}.md`, ...both],
              [`mv ${file(one)} ${dir}/${value}.md`, ...both],
            ],
          };
        },
      },
      {
        ...field(
          "next",
          [
            "After {name} one should read {value}.",
            "Let {name} lead to {value}.",
            "The next page after {name} is {value}.",
            "Link {name} to {value} as its next page.",
          ],
          () => null,
        ),
        of: (one, other) => ({
          value: other.name,
          what: `next ${other.name}`,
          edits: [
            [`sed -i 's/^next: .*/next: ${other.name}.md/' ${file(one)}`],
            [`sed -i 's/start.md/${other.name}.md/' ${file(one)}`],
          ],
        }),
      },
      field("keeper", ["{value} keeps the page {name} now.", "Make {value} the keeper of {name}."], person),
    ],
  };
}
