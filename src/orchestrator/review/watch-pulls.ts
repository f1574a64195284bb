import { isDeepStrictEqual } from 'node:util';
import { toBatonError } from '../../core/baton-error.ts';
import { isInOneOf } from '../../core/issue/issue.ts';
import { stateFor } from '../../core/issue/state-role.ts';
import {
  checksVerdict,
  headVerdict,
  type OpenPull,
  type PullRequest,
  pullStatus,
} from '../../core/pull/pull-request.ts';
import type { Settings } from '../../core/settings.ts';
import { harmlessLines } from '../../core/text/harmless-line.ts';
import { followChanges, someone } from '../../pulls/changes.ts';
import type { PullRequests } from '../../pulls/pull-requests.ts';
import type { BaseParts } from '../parts.ts';
import { moveIssue } from '../status/move-issue.ts';
import { type FinishParts, finishIssue } from './finish-issue.ts';

export interface WatchPullsParts extends FinishParts, Pick<BaseParts, 'chance' | 'own' | 'project'> {
  readonly pullsFor: (settings: Settings) => PullRequests | null;
  /** Plans the checks of these heads and runs what has no result, one at a time. May take long. */
  readonly runChecks: (settings: Settings, pulls: readonly PullRequest[], signal: AbortSignal) => Promise<void>;
}

/** How much of the end of a red check's output the agent gets. */
const longestOutput = 8_000;
const caller = { job: 'review', cause: 'poll' } as const;

/**
 * Follows the open pull requests. What must hold: a change that others merged finishes its issue in their name; a head
 * that others pushed is a new round; a commit whose checks are red goes back to the agent, once, while `review.max_rounds`
 * allows it, also when a person pushed it, and otherwise stays in review for a person. Without an open pull request it reads one row.
 */
export class PullWatch {
  readonly #parts: WatchPullsParts;
  #checking: Promise<void> | null = null;
  #open: ReadonlyMap<string, OpenPull> = new Map();

  constructor(parts: WatchPullsParts) {
    this.#parts = parts;
  }

  /** Of the open pull requests, by issue, as they were last read. */
  get open(): ReadonlyMap<string, OpenPull> {
    return this.#open;
  }

  async run(): Promise<void> {
    const { clock, notify, project, requestTick, source, stopping, store } = this.#parts;
    const { settings } = source.read().workflow;
    const pulls = this.#parts.pullsFor(settings);
    await this.#keep(await store.pullRequests.allOpen(project));
    if (pulls === null || this.#open.size === 0) return;
    const followed = await followChanges(
      { store, pulls, onMerged: (pull, merged) => finishIssue(this.#parts, pull, merged) },
      project,
      { at: clock.now(), someone, signal: stopping },
    );
    if (followed.some(({ effect }) => effect !== null)) {
      notify();
      requestTick();
    }
    const open = followed.map(({ pull }) => pull).filter(({ merged, closed }) => merged === null && closed === null);
    await this.#keep(open);
    for (const pull of open) await this.#sendBackRed(settings, pull);
    await this.#moveBack(settings, open);
    this.#check(settings, open);
  }

  async #keep(pulls: readonly PullRequest[]): Promise<void> {
    const { source, store } = this.#parts;
    const wanted = source.read().workflow.settings.review.checks.map(({ name }) => name);
    const open = new Map<string, OpenPull>();
    for (const pull of pulls) {
      const checks = headVerdict(pull, await store.checks.list(pull, pull.headCommit), wanted);
      const { number, timesSentBack } = pull;
      open.set(pull.issueId, { number, timesSentBack, status: pullStatus(pull), checks });
    }
    if (isDeepStrictEqual(open, this.#open)) return;
    this.#open = open;
    this.#parts.notify();
  }

  /** Checks take long; the next pass finds their results. */
  #check(settings: Settings, open: readonly PullRequest[]): void {
    if (this.#checking !== null || settings.review.checks.length === 0 || open.length === 0) return;
    const { own, runChecks, stopping } = this.#parts;
    const standing = open.filter(({ sentBack }) => sentBack === null);
    this.#checking = runChecks(settings, standing, stopping)
      // The results are there: a red one goes back at once, not at the next pass.
      .then(() => (stopping.aborted ? undefined : this.#sendBackAllRed(settings)))
      .finally(() => {
        this.#checking = null;
      });
    own('checks', this.#checking);
  }

  async #sendBackAllRed(settings: Settings): Promise<void> {
    const { store, project } = this.#parts;
    for (const pull of await store.pullRequests.allOpen(project)) await this.#sendBackRed(settings, pull);
    await this.#keep(await store.pullRequests.allOpen(project));
  }

  async #sendBackRed(settings: Settings, pull: PullRequest): Promise<void> {
    const { store, project, clock, chance, logger } = this.#parts;
    if (pull.sentBack !== null) return;
    const checks = await store.checks.list(pull, pull.headCommit);
    if (checksVerdict(checks) !== 'red' || checks.some(({ result }) => result === null)) return;
    if (pull.timesSentBack >= settings.review.maxRounds) return;
    const rounds = (await store.pullRequests.rounds(pull)).filter(({ headCommit }) => headCommit === pull.headCommit);
    // A person who brought the same commit into review again wants it there.
    if (rounds.some(({ sentBack }) => sentBack?.kind === 'check')) return;
    const isPushed = rounds.at(-1)?.runId === null;
    if (pull.movedAt === null && !(isPushed && (await this.#isInReview(settings, pull)))) return;
    const red = checks.filter(({ result }) => result === 'failed' || result === 'timed_out');
    const [at, by] = [clock.now(), { kind: 'orchestrator' } as const];
    const isSent = await store.transaction(async (tables) => {
      if (!(await tables.pullRequests.sendBack(pull, pull.headCommit, { at, by, kind: 'check' }))) return false;
      for (const { name, command, result, output } of red) {
        const how = result === 'timed_out' ? 'took too long' : 'failed';
        const said = harmlessLines((output ?? '').slice(-longestOutput)).trim();
        const body = `The check "${name}" (${command}) ${how}. The end of its output:\n\n${said}`;
        const draft = { id: chance.id(), at, kind: 'check', author: by, body, commit: pull.headCommit } as const;
        await tables.messages.leave({ project, issueId: pull.issueId }, draft);
      }
      return true;
    });
    if (!isSent) return;
    const named = { issue_id: pull.issueId, issue_identifier: pull.identifier, pull_request: pull.number };
    logger.info('change_sent_back', { ...named, checks: red.map(({ name }) => name) });
    const sent = await store.pullRequests.read(pull);
    if (sent !== null) await this.#moveBack(settings, [sent]);
  }

  /** A head that a person pushed needs no move where its issue is in review; any other is moved by its delivery. */
  async #isInReview({ tracker }: Settings, pull: PullRequest): Promise<boolean> {
    const issue = (await this.#parts.reads.byIds([pull.issueId], caller)).get(pull.issueId) ?? null;
    return issue !== null && isInOneOf(tracker.reviewStates)(issue);
  }

  /** Moves the issues of changes that a check sent back out of review; a failure is tried again at the next pass. */
  async #moveBack(settings: Settings, open: readonly PullRequest[]): Promise<void> {
    const { clock, logger, notify, reads, requestTick, store, trackerFor } = this.#parts;
    const { changes } = trackerFor(settings);
    const todo = stateFor('todo', settings.tracker).state ?? settings.tracker.activeStates[0];
    if (changes === null || todo === undefined) return;
    for (const pull of open.filter(isToBeMovedBack)) {
      const { issueId: id, identifier, headCommit } = pull;
      try {
        reads.forget(id);
        const issue = (await reads.byIds([id], caller)).get(id) ?? null;
        // Another daemon, or the agent itself, may have moved the issue during the read.
        const current = await store.pullRequests.read(pull);
        if (current === null || !isToBeMovedBack(current)) continue;
        if (issue !== null && isInOneOf(settings.tracker.reviewStates)(issue))
          await moveIssue(this.#parts, changes, {
            id,
            to: todo,
            by: { kind: 'orchestrator' },
            from: issue.state,
            caller,
          });
        await store.pullRequests.moved(pull, headCommit, clock.now(), { isSentBack: true });
        notify();
        requestTick();
      } catch (thrown) {
        const error = toBatonError(thrown);
        logger.warn('sent_back_issue_not_moved', { issue_id: id, issue_identifier: identifier, error });
      }
    }
  }
}

function isToBeMovedBack({ sentBack, movedAt }: PullRequest): boolean {
  return sentBack?.kind === 'check' && movedAt === null;
}
