/** What the expert says before a command of each kind. */
const SAYS = {
  list: ["I look around first.", "What is here?", "Let me see the files."],
  rules: ["First the rules of this repository.", "How are changes made here?", "I read the rules before I change anything."],
  look: ["Now the file itself.", "This is the file to change.", "I look at what is there."],
  astray: ["I look at the file.", "Let me open it."],
  found: ["There is no such file. Where is it?", "That is not its place; I list the folder."],
  edit: ["I make the change.", "Now the change itself.", "This does what was asked."],
  more: ["The same has to be changed here.", "This belongs to it too."],
  log: ["The rules want a line about it.", "Now the note about the change.", "I write down what changed."],
  finish: ["The rules ask for this after a change.", "Now the tool that the rules name."],
  check: ["Is all well?", "I check the result.", "Now the check."],
  early: ["I check whether that is all.", "Is that enough?"],
  mend: ["It is not: the rules ask for this too.", "I forgot this step of the rules."],
  submit: ["All is done.", "The check passes, so I hand it in."],
};

const SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT";

/** Three ways of one task: straight on; checked too early, and mended; with a wrong path first, and the last steps in one. */
export function waysOf(draw, { rules, look, astray, edits, finish, check }) {
  const step = (kind, command) => ({ say: draw.pick(SAYS[kind]), command });
  const edit = (commands) => commands.map((command, at) => step(at === 0 ? "edit" : "more", command));
  const last = ([kind, command]) => step(kind === "log" ? "log" : "finish", command);
  const read = step("rules", `cat ${rules}`);
  const end = () => [step("check", check), step("submit", SUBMIT)];
  const [first, second = first] = edits;
  const [mended, ...left] = finish;
  return [
    [read, step("look", look), ...edit(first), ...finish.map(last), ...end()],
    [
      step("list", "ls"),
      step("rules", `cat ${rules}`),
      step("look", look),
      ...edit(second),
      step("early", check),
      step("mend", mended[1]),
      ...left.map(last),
      ...end(),
    ],
    [
      step("rules", `cat ${rules}`),
      step("astray", astray[0]),
      step("found", astray[1]),
      step("look", look),
      ...edit(first),
      step("finish", finish.map(([, command]) => command).join(" && ")),
      ...end(),
    ],
  ];
}

/** The commands alone that change something, as the first way has them. */
export const changesOf = ({ edits, finish }) => [...edits[0], ...finish.map(([, command]) => command)];

/** Ways that leave out one thing that the rules ask for: lists of commands; the first does nothing. */
export function wrongWaysOf({ edits, finish }) {
  const commands = finish.map(([, command]) => command);
  const forgotten = commands.map((_, at) => [...edits[0], ...commands.filter((_, other) => other !== at)]);
  const partial = edits.filter((one) => one.length > 1).map((one) => [one[0], ...commands]);
  return [[], edits[0], ...forgotten, ...partial];
}
