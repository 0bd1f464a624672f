import type { Project, ProjectRun, ProjectRunRequest, ProjectRunStart, Session } from "@imprint/contracts";
import { expect } from "vitest";
import type { Service } from "../support/service.js";
import { makeSession, putSession } from "../support/session.js";

/** Day `day` of a repository: every session begins differently, and later ones are newer. */
export const sessionOf = (sessionId: string, day: number, changes: Partial<Session> = {}): Session =>
  makeSession(sessionId, {
    started_at: new Date(Date.UTC(2026, 0, day)).toISOString(),
    steps: [
      { source: "user", text: `Task of ${sessionId}.` },
      { source: "agent", text: `Done: ${sessionId}.` },
    ],
    ...changes,
  });

export const putDays = (service: Service, ids: readonly string[], from = 1): void => {
  for (const [at, id] of ids.entries()) putSession(service.dataDir, id, sessionOf(id, from + at));
};

export const startRun = async (service: Service, name: string, body: ProjectRunRequest): Promise<ProjectRunStart> => {
  const response = await service.post(`/projects/${name}/runs`, body);
  expect(response.statusCode, response.body).toBeLessThan(300);
  return response.json();
};

export const projectOf = async (service: Service, name: string): Promise<Project> =>
  (await service.get(`/projects/${name}`)).json();

export const isOver = ({ finished_at }: ProjectRun): boolean => finished_at !== null;

/** The newest run once `reached` holds, as the project's events tell. */
export const runReached = async (service: Service, name: string, reached: (run: ProjectRun) => boolean): Promise<ProjectRun> => {
  const response = await fetch(`${service.url}/projects/${name}/events`);
  let text = "";
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += Buffer.from(chunk).toString();
    const events = text.split("\n\n");
    text = events.pop() ?? "";
    for (const event of events) {
      const data = /^data: (.*)$/m.exec(event)?.[1];
      const run = data === undefined ? undefined : (JSON.parse(data) as { project?: Project }).project?.runs[0];
      if (run && reached(run)) return run;
    }
  }
  throw new Error("the stream ended before the run came so far");
};

export const runEnded = (service: Service, name: string): Promise<ProjectRun> => runReached(service, name, isOver);

export const run = async (service: Service, name: string, body: ProjectRunRequest): Promise<ProjectRun> => {
  const started = await startRun(service, name, body);
  expect(started.run, started.sentence).not.toBeNull();
  return runEnded(service, name);
};
