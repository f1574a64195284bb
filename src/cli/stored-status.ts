import type { Pull } from '../client/schema/pull.ts';
import type { Surroundings } from '../daemon/surroundings.ts';
import { openWorkplace, type WorkplaceFlags } from '../daemon/workplace.ts';
import { presentPull } from '../server/api/present/present-pull.ts';

/** What waits for a daemon or for a person while no daemon runs. */
export interface StoredStatus {
  /** Of a daemon. */
  readonly status: null;
  /** How many commands wait for a daemon. */
  readonly waiting: number;
  readonly held: number;
  /** The open ones, the newest first. */
  readonly pulls: readonly Pull[];
}

/** As the API counts them. */
const mostCounted = 100;

/** The same as the API on the store alone would answer. */
export async function storedStatus(
  flags: WorkplaceFlags,
  surroundings: Surroundings,
  mostPulls: number,
): Promise<StoredStatus> {
  await using workplace = await openWorkplace(flags, surroundings);
  const { store, project, workflow } = workplace;
  const { checks } = workflow.settings.review;
  const open = (await store.pullRequests.allOpen(project.id)).toReversed().slice(0, mostPulls);
  const pulls = open.map(async (pull) => presentPull(pull, await store.checks.list(pull, pull.headCommit), checks));
  return {
    status: null,
    waiting: (await store.commands.waiting(project.id, mostCounted)).length,
    held: (await store.held.list(project.id)).length,
    pulls: await Promise.all(pulls),
  };
}
