import { ROOT } from "../setup/main.mjs";
import { attempt } from "./attempt.mjs";
import { CLIENTS } from "./clients.mjs";
import { installAgent } from "./install.mjs";
import { startReal, talk } from "./talk.mjs";
import { outcomeOf, told } from "./told.mjs";

/**
 * Lets each named agent, or all, do its task with a scripted model, and talk to the default model; says a line for each. `only` names one
 * of the two. Resolves with how many passed and what failed, as test suites do; rejects with Interrupted.
 */
export async function checkAgents({ names = [], only = null, env, signal, print, root = ROOT }) {
  const wanted = names.length > 0 ? names : Object.keys(CLIENTS);
  const installed = await installAll({ wanted, root, env, signal, print });
  const outcomes = [...installed.outcomes];
  const checkEach = async (what, check) => {
    for (const [name, programs] of installed.programs) {
      const asked = { name, client: CLIENTS[name], programs, root, env, signal };
      outcomes.push(await told({ label: `${name}${what}`, signal, print }, () => check(asked)));
    }
  };
  if (only !== "real") await checkEach("", attempt);
  if (only !== "scripted" && installed.programs.size > 0) {
    let service = null;
    const start = async () => {
      service = await startReal();
      return { wrong: [], said: [] };
    };
    const notStarted = await told({ label: "the service with the default model", signal, print, isStep: true }, start);
    if (notStarted !== null) outcomes.push(notStarted);
    try {
      if (service !== null) await checkEach(" and the default model", (asked) => talk({ ...asked, service }));
    } finally {
      await service?.end();
    }
  }
  return outcomeOf(outcomes);
}

/** The programs of each agent that could be installed, and the failure of each that could not. */
async function installAll({ wanted, root, env, signal, print }) {
  const programs = new Map();
  const outcomes = [];
  for (const name of wanted) {
    const install = async () => {
      programs.set(name, await installAgent({ name, package: CLIENTS[name].package, root, env, signal }));
      return { wrong: [], said: [] };
    };
    const wrong = await told({ label: `${name} installed`, signal, print, isStep: true }, install);
    if (wrong !== null) outcomes.push(wrong);
  }
  return { programs, outcomes };
}
