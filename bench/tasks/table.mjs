import { exactP } from "../../packages/contracts/dist/index.js";
import { spread, wilson } from "../harness/statistics.mjs";

const percent = (share) => `${Math.round(share * 100)}`;

const share = (cells) => {
  if (cells.length === 0) return "-";
  const sum = cells.filter(({ solved }) => solved).length;
  return `${percent(sum / cells.length)} (${wilson(sum, cells.length).map(percent).join(", ")}), ${sum} of ${cells.length}`;
};

/** As Map.groupBy of newer Nodes. */
const groups = (list, keyOf) => {
  const found = new Map();
  for (const one of list) found.set(keyOf(one), [...(found.get(keyOf(one)) ?? []), one]);
  return found;
};

const idOf = ({ seed, repository, task }) => [seed, repository, task].join("/");

/** McNemar's exact test on the tasks that both rows have: how often each alone solved one, and the chance of that. */
export function againstBase(cells, base) {
  const solved = new Map(base.map((cell) => [idOf(cell), cell.solved]));
  const pairs = cells.filter((cell) => solved.has(idOf(cell)));
  const better = pairs.filter((cell) => cell.solved && !solved.get(idOf(cell))).length;
  const worse = pairs.filter((cell) => !cell.solved && solved.get(idOf(cell))).length;
  return { better, worse, p: exactP(better, worse) };
}

/** Lines of a Markdown table: per cent solved with intervals over tasks, of all and by whether a family was shown, and how they ended. */
export function table(cells) {
  const rows = groups(cells, ({ row }) => row);
  const lines = [...rows].map(([row, own]) => {
    const { better, worse, p } = againstBase(own, rows.get("base") ?? []);
    const ends = [...groups(own, ({ outcome }) => outcome)].map(([outcome, some]) => `${outcome} ${some.length}`);
    const [known, unseen] = [true, false].map((is) => own.filter((cell) => cell.shown === is));
    const seconds = spread(own.map((cell) => cell.seconds)).median.toFixed(0);
    const test = row === "base" ? "-" : `+${better} -${worse}, p ${p.toPrecision(2)}`;
    return [row, share(own), share(known), share(unseen), test, ends.join(", "), seconds];
  });
  const head = ["row", "solved, % of tasks", "families shown", "family never shown", "against base", "ends", "seconds"];
  return [head, head.map(() => "---"), ...lines].map((line) => `| ${line.join(" | ")} |`);
}
