import { describe, expect, it } from "vitest";
import { AbortError, NotFoundError } from "../../src/index.js";
import { problem, type Reply, service } from "../support/service.js";

const job = (version: number, status: string): Reply => ({ status: 200, body: { job_id: "01", status, version } });

describe("jobs.waitFor", () => {
  it.each(["completed", "failed", "cancelled"])("resolves with a job that is %s", async (status) => {
    const { client, seen } = await service([job(1, "queued"), job(2, "running"), job(3, status)]);
    await expect(client.jobs.waitFor("01")).resolves.toMatchObject({ status, version: 3 });
    expect(seen.map((request) => request.url)).toEqual(Array(3).fill("/jobs/01/details"));
  });

  it("reports each version once", async () => {
    const versions: number[] = [];
    const { client } = await service([
      job(1, "queued"),
      job(1, "queued"),
      job(4, "running"),
      job(4, "running"),
      job(5, "completed"),
    ]);
    await client.jobs.waitFor("01", { onUpdate: (update) => versions.push(update.version) });
    expect(versions).toEqual([1, 4, 5]);
  });

  it("looks less often while nothing changes, up to a limit, and more often again after a change", async () => {
    const still = Array<Reply>(4).fill(job(1, "queued"));
    const { client, pauses } = await service([...still, job(2, "running"), job(3, "completed")]);
    await client.jobs.waitFor("01", { pollMs: { first: 100, longest: 300 } });
    expect(pauses).toEqual([100, 150, 225, 300, 100]);
  });

  it("stops looking when the signal aborts", async () => {
    const controller = new AbortController();
    const { client } = await service([job(1, "running")]);
    const waiting = client.jobs.waitFor("01", { signal: controller.signal, onUpdate: () => controller.abort() });
    await expect(waiting).rejects.toBeInstanceOf(AbortError);
  });

  it("throws what a look throws", async () => {
    const { client } = await service([job(1, "running"), problem(404, "JOB_NOT_FOUND", "Gone.")]);
    await expect(client.jobs.waitFor("01")).rejects.toBeInstanceOf(NotFoundError);
  });
});
