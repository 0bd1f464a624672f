import { readFileSync } from "node:fs";
import path from "node:path";
import { shown } from "./record.mjs";

/** One seed for every training: what differs is the sessions. */
const SEED = 1;

const learn = (count) => ({
  async model({ repository, train }) {
    return train(`${repository.name}-learn${count}`, await repository.sessions(count));
  },
});

/**
 * By name: which `model` answers (the base where it is left out), and what stands in the prompt before a task (`preface`). A model that
 * cannot be had is `{leftOut: sentence}`.
 */
export const ROWS = {
  base: {},
  rules: {
    preface({ folder, plan }) {
      const { rules } = plan.house;
      return `The rules of this repository, ${rules}:\n${readFileSync(path.join(folder, "repository", rules), "utf8")}`;
    },
  },
  session: {
    async preface({ sessions }, family) {
      const firsts = await sessions(3);
      const one = firsts.find((session) => session.family === family) ?? firsts[0];
      return `Work that was done here before:\n${shown(one.text)}\n\nThe task now:`;
    },
  },
  learn3: learn(3),
  learn6: learn(6),
  learn12: learn(12),
  other: {
    async model({ other, train }) {
      const one = other();
      return one === null
        ? { leftOut: "There is no repository of another kind in its half." }
        : ROWS.learn12.model({ repository: one, train });
    },
  },
  imprint: {
    async model({ repository, imprint }) {
      const [first] = await repository.sessions(1);
      return imprint(`${repository.name}-imprint`, first);
    },
  },
};

/** `train` and `imprint` by the product: each gives `{model}`, an adapter that is there already too, and tells `print` what it took. */
export function trainings({ client, baseModel, print, wait = (jobId) => client.jobs.waitFor(jobId) }) {
  const made = async (adapter_id, start) => {
    const known = await client.adapters.get(adapter_id).catch((error) => {
      if (error.status !== 404) throw error;
    });
    if (known !== undefined) return { model: adapter_id };
    const began = performance.now();
    const { job_id } = await start({ adapter_id, base_model: baseModel, keep_harmful: true });
    const { status, error, proof } = await wait(job_id);
    if (error?.code === "HYPERNETWORK_NOT_INSTALLED") return { leftOut: error.message };
    if (status !== "completed") throw new Error(`${adapter_id} was not made: ${error?.message ?? status}`);
    const { loss_before, loss_after, neutral_loss_before, neutral_loss_after } = proof;
    const change = (before, after) => `${before.toFixed(3)} to ${after.toFixed(3)}`;
    print(
      `${adapter_id}: ${Math.round((performance.now() - began) / 1000)} s, loss ${change(loss_before, loss_after)}, ` +
        `neutral text ${change(neutral_loss_before, neutral_loss_after)}`,
    );
    return { model: adapter_id };
  };
  const stored = async ({ text }) => (await client.sessions.create(text, { outcome: "success" })).session_id;
  return {
    async train(adapter_id, sessions) {
      const session_ids = [];
      for (const session of sessions) session_ids.push(await stored(session));
      // As a project's runs train: nothing is held out, what tests it are the tasks.
      return made(adapter_id, (asked) =>
        client.train.lora({ ...asked, session_ids, profile: "learn", holdout: "none", seed: SEED }),
      );
    },
    async imprint(adapter_id, session) {
      const trajectory_ids = [await stored(session)];
      try {
        return await made(adapter_id, (asked) => client.train.hypernetwork({ ...asked, trajectory_ids, seed: SEED }));
      } catch (error) {
        if (error.code === "HYPERNETWORK_NOT_INSTALLED") return { leftOut: error.message };
        throw error;
      }
    },
  };
}
