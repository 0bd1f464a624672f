import type { Project, ProjectEvent } from "@imprint/contracts";
import type { Clock } from "../common/clock.js";
import { createFeed, type Feed, format } from "../events/feed.js";
import type { Source } from "../events/history.js";

const LIMITS = { events: 200, characters: 512 * 1024 };
/** As the feeds of jobs: an id of an earlier run of the service is never taken for one of this. */
const IDS_PER_MS = 1_000;

export interface ProjectFeeds {
  /** Tells whoever follows the project what it is now. */
  tell(project: Project): void;
  /** Tells them that it is deleted, and ends their streams. */
  end(name: string): void;
  /** What a stream of the project tells, beginning with what it is. */
  sourceOf(project: Project): Source;
}

/** What streams tell of projects, in memory like that of jobs: what is stored is told in their first event. */
export const createProjectFeeds = ({ clock }: { readonly clock: Pick<Clock, "now"> }): ProjectFeeds => {
  const feeds = new Map<string, { readonly feed: Feed; now: Project; isOver: boolean }>();
  const text = (event: ProjectEvent): string => format(event);

  return {
    tell(project) {
      const known = feeds.get(project.name);
      if (!known) return; // nobody ever followed it
      known.now = project;
      known.feed.push(text({ type: "status", project }));
    },
    end(name) {
      const known = feeds.get(name);
      if (!known) return;
      feeds.delete(name);
      known.isOver = true;
      known.feed.push(text({ type: "resync", reason: "The project was deleted." }));
    },
    sourceOf(project) {
      const known = feeds.get(project.name) ?? {
        feed: createFeed({ before: clock.now() * IDS_PER_MS, limits: LIMITS }),
        now: project,
        isOver: false,
      };
      known.now = project;
      feeds.set(project.name, known);
      return { feed: known.feed, snapshot: () => text({ type: "snapshot", project: known.now }), ended: () => known.isOver };
    },
  };
};
