import { stateClass } from '../../../../src/core/dispatch/eligibility.ts';
import type { Author } from '../../../../src/core/issue/author.ts';
import { githubLogin } from '../../review/github-client.ts';
import type { ReviewWorld } from '../../review/review-world.ts';
import { identity, ownIdentity } from '../../review/simulated-pulls.ts';
import { baseBranch } from '../../review/simulated-repository.ts';
import type { World } from '../../world.ts';
import type { Rule } from '../rule.ts';
import { reviewLagMs } from './review-lag.ts';

interface Merge {
  readonly number: number;
  readonly issueId: string;
  readonly head: string;
  /** Who may stand in the record. */
  readonly names: string[];
  readonly at: number;
}

interface PullRow {
  readonly number: number;
  readonly issue_id: string;
  readonly head_commit: string;
  readonly base_commit: string;
  readonly merged_by_json: string | null;
  readonly closed_at: number | null;
}

/** The author of every command. */
const commander = 'somebody';

/**
 * A change that reached the base while its head stood in review is recorded as merged, in the name of a person, and its issue
 * is finished by that person, or by Baton where it merges by itself, unless someone closed the pull request or moved the issue since.
 */
export function mergeFinishes(world: World, review: ReviewWorld): Rule {
  const { repository, github } = review;
  const merges = new Map<number, Merge>();
  repository.onMove.add(({ branch, from, to, maker, name }) => {
    if (github !== null || branch !== baseBranch || from === null) return;
    for (const { number, issue_id, head_commit, base_commit } of world.memory.look<PullRow>(openPulls)) {
      // It may be merged again by hand before Baton has recorded the first merge.
      merges.get(number)?.names.push(name);
      const isNew = repository.observe(head_commit, from, base_commit) === null;
      const found = isNew ? repository.observe(head_commit, to, base_commit) : null;
      if (found === null) continue;
      world.tally(maker === 'person' ? 'merged by hand' : 'merged by command');
      // One that was merged before its head stood in review is seen when the base moves again.
      const names = [name, found.by ?? name, commander, ...(maker === 'baton' ? [identity] : [])];
      merges.set(number, { number, issueId: issue_id, head: head_commit, names, at: world.now });
    }
  });
  github?.onMerged.add(({ number: hostNumber, mergedBy, headOid }) => {
    for (const { number, issue_id } of world.memory.look<PullRow>(openAtHost, hostNumber)) {
      world.tally(mergedBy === githubLogin ? 'merged by command' : 'merged by hand');
      const names = [mergedBy ?? '', commander];
      merges.set(number, { number, issueId: issue_id, head: headOid, names, at: world.now });
    }
  });
  return {
    afterStep: () => {
      for (const merge of merges.values())
        if (isOver(world, merge, github !== null)) merges.delete(merge.number);
        else if (world.now - Math.max(merge.at, world.disturbedAt) > reviewLagMs(world)) lost(world, merge);
    },
    atEnd: () => {
      for (const merge of merges.values()) if (!isOver(world, merge, github !== null)) lost(world, merge);
    },
  };
}

function lost(world: World, { issueId, number, head, at }: Merge): void {
  const state = world.book.get(issueId)?.state;
  world.broke(
    'merge_finishes',
    issueId,
    `${head} of pull request ${number} is merged since ${at} ms; it is "${state}"`,
  );
}

function isOver(world: World, { number, issueId, head, names, at }: Merge, isByWord: boolean): boolean {
  const mayMerge = world.review?.plan.autoMerge != null;
  const [pull] = world.memory.look<PullRow>(onePull, number);
  // Another head stands there, or a person was faster.
  if (pull === undefined || pull.closed_at !== null) return true;
  if (pull.merged_by_json === null) return !isByWord && pull.head_commit !== head;
  const by = JSON.parse(pull.merged_by_json) as Author;
  const isByBaton = mayMerge && (by.kind === 'orchestrator' || (by.kind === 'person' && by.name === ownIdentity));
  if (!isByBaton && (by.kind !== 'person' || !names.includes(by.name)))
    world.broke('merge_finishes', issueId, `pull request ${number} is merged by ${pull.merged_by_json}, not ${names}`);
  const issue = world.book.get(issueId);
  const last = world.book.lastMove.get(issueId);
  const isByOthers = last !== undefined && last.at >= at && (last.by === 'hand' || last.by.kind === 'run');
  if (issue === undefined || isByOthers) return true;
  if (stateClass(issue.state, world.file.settings.tracker) !== 'terminal') return false;
  const isFinishedByBaton = last !== undefined && last.at >= at && last.by !== 'hand' && last.by.kind !== 'person';
  if (isFinishedByBaton && !mayMerge)
    world.broke('merge_finishes', issueId, `it is finished by Baton, not by the person who merged it`);
  return true;
}

const columns = 'number, issue_id, head_commit, base_commit, merged_by_json, closed_at';
const openPulls = `select ${columns} from pull_requests where merged_at is null and closed_at is null`;
const openAtHost = `${openPulls} and host_number = ?`;
const onePull = `select ${columns} from pull_requests where number = ?`;
