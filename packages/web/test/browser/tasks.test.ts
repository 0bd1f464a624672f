import { expect, test } from "vitest";
import { expectNoFaults, openPage, provideBrowser, TEST_MS } from "./support/browser.js";
import { measuredTasks, putTasks, startTrained } from "./support/stage.js";

provideBrowser();

test(
  "an adapter's page shows tasks by rows as they are measured, each outcome in words that lead to its conversation",
  async () => {
    const service = await startTrained();
    const page = await openPage(`${service.url}/#/adapters/first-run`);
    const card = page.getByRole("region", { name: "Tasks solved" });
    await card.getByText("imprint evaluate first-run --tasks FOLDER").waitFor();

    const { runs } = measuredTasks();
    await putTasks(service, "first-run", measuredTasks({ runs: runs.slice(0, 3) }));
    await page.reload();
    await card.getByText("3 of 6 runs are measured: the adapter solved 1 of 1").waitFor();
    await card.getByText("being tried, 1 of 1").waitFor();

    // The page looks again by itself.
    await putTasks(service, "first-run", measuredTasks());
    await card.getByText("Too little to tell, from fewer than 6 tasks: 1 of 2, the base model 0 of 2").waitFor();
    const grid = card.getByRole("region", { name: "Tasks by rows" });
    await grid.getByRole("row", { name: "wire-gate no call solved check failed" }).waitFor();
    const lost = grid.getByRole("row", { name: "wire-lock limit wrong file error" });
    expect(await lost.getByText("wrong file").getAttribute("title")).toBe("notes.txt, 2 turns, 0:12");
    expect(await lost.getByText("wrong file").getAttribute("data-tone")).toBe("bad");
    await grid.getByRole("row", { name: /^Solved 0 of 2 \(0 % to 71 %\) 1 of 2 \(10.0 % to 90 %\), \+50 points, p 1/ }).waitFor();
    await grid.getByRole("link", { name: "solved" }).click();
    await page.getByRole("heading", { level: 1, name: "Write a function that adds two numbers." }).waitFor();
    expectNoFaults(page);
  },
  TEST_MS,
);

test(
  "the verdict on tasks stands in the list, in the colour of what it says",
  async () => {
    const service = await startTrained();
    const names = ["one", "two", "three", "four", "five", "six"];
    const [first] = measuredTasks().runs;
    if (first === undefined) throw new Error("no run");
    const runs = names.flatMap((task) => [
      { ...first, task, row: "base" as const, outcome: "solved" as const },
      { ...first, task, row: "adapter" as const, outcome: "check_failed" as const },
    ]);
    const [task] = measuredTasks().tasks;
    if (task === undefined) throw new Error("no task");
    await putTasks(
      service,
      "first-run",
      measuredTasks({ runs, tasks: names.map((name) => ({ ...task, name, session_id: null })) }),
    );
    const page = await openPage(`${service.url}/#/adapters`);
    const shown = page.getByRole("row", { name: /first-run/ }).getByText("solves less, 0 of 6");
    expect(await shown.getAttribute("data-tone")).toBe("bad");
    await page
      .getByRole("row", { name: /second-run/ })
      .getByText("not tried")
      .waitFor();
    expectNoFaults(page);
  },
  TEST_MS,
);
