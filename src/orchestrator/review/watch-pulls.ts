import { isDeepStrictEqual } from 'node:util';
import { toBatonError } from '../../core/baton-error.ts';
import { afterFailures, paceOf } from '../../core/cadence/poll-pace.ts';
import { whyNotBatons } from '../../core/dispatch/eligibility.ts';
import type { Author } from '../../core/issue/author.ts';
import { type Issue, isInOneOf } from '../../core/issue/issue.ts';
import { stateFor } from '../../core/issue/state-role.ts';
import { judgeState, sentBackBy } from '../../core/pull/judge.ts';
import type { OpenPull } from '../../core/pull/open-pull.ts';
import {
  checksVerdict,
  headVerdict,
  type Merged,
  type PullRequest,
  pullStatus,
  type SentBackKind,
} from '../../core/pull/pull-request.ts';
import type { Settings } from '../../core/settings.ts';
import { harmlessLine, harmlessLines } from '../../core/text/harmless-line.ts';
import { followChanges, someone } from '../../pulls/changes.ts';
import type { PullFacts, PullRequests, RemoteHost } from '../../pulls/pull-requests.ts';
import type { MessageDraft } from '../../store/tables/words/messages.ts';
import type { Claims } from '../claims/claims.ts';
import type { BaseParts } from '../parts.ts';
import type { Activity } from '../poll/activity.ts';
import { moveIssue } from '../status/move-issue.ts';
import type { AutoMerge } from './auto-merge.ts';
import { type FinishParts, finishIssue } from './finish-issue.ts';
import { hostReaction, reactionWords } from './host-reaction.ts';
import { SayVerdicts, type UnsaidVerdict } from './say-verdicts.ts';

export interface WatchPullsParts extends FinishParts, Pick<BaseParts, 'chance' | 'own' | 'project'> {
  readonly activity: Activity;
  readonly autoMerge: Pick<AutoMerge, 'merge' | 'stateOf'>;
  readonly claims: Pick<Claims, 'held' | 'hold' | 'release'>;
  readonly pullsFor: (settings: Settings) => PullRequests | null;
  /** A judge may be wanted. */
  readonly fillSlots: () => void;
  /** Plans the checks of these heads and runs what has no result, one at a time. May take long. */
  readonly runChecks: (settings: Settings, pulls: readonly PullRequest[], signal: AbortSignal) => Promise<void>;
}

/** How much of the end of a red check's output the agent gets. */
const longestOutput = 8_000;
/** More than all words of a change. */
const mostMessages = 1_000;
const caller = { job: 'review', cause: 'poll' } as const;

/**
 * Follows the open pull requests. What must hold: a change that others merged finishes its issue in their name; a head
 * that others pushed is a new round; a head whose checks are red goes back to the agent, once, while `review.max_rounds`
 * allows it and Baton may take the issue, also when a person pushed it, and otherwise stays in review for a person. At a
 * remote host a reviewer's request for changes and a conflict with the base do the same, and one that was closed without
 * a merge is held with a question, which ends when a person opens it again. Without an open pull request it reads one row.
 */
export class PullWatch {
  readonly #parts: WatchPullsParts;
  #checking: Promise<void> | null = null;
  /** When a remote host was last read, on the monotonic clock, and how often in a row that failed. */
  #readAt = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #open: ReadonlyMap<string, OpenPull> = new Map();
  #isRead = false;
  readonly #sayVerdicts: SayVerdicts;
  /** Verdicts that are not at their host, as they were last read. */
  #unsaid: readonly UnsaidVerdict[] = [];

  constructor(parts: WatchPullsParts) {
    this.#parts = parts;
    this.#sayVerdicts = new SayVerdicts(parts);
  }

  /** Of the open pull requests, by issue, as they were last read. */
  get open(): ReadonlyMap<string, OpenPull> {
    return this.#open;
  }

  /** Whether `open` was read since the start of the daemon. */
  get isRead(): boolean {
    return this.#isRead;
  }

  async run(): Promise<void> {
    const { project, source, store } = this.#parts;
    const { settings } = source.read().workflow;
    const pulls = this.#parts.pullsFor(settings);
    await this.#keep(await store.pullRequests.allOpen(project));
    const closed = (await this.#heldClosed()).filter((pull) => pull.closed !== null);
    if (pulls === null || this.#open.size + closed.length === 0) return;
    await this.#follow(pulls, settings, closed);
    await this.#endReopenedHolds();
    const open = (await store.pullRequests.allOpen(project)).filter(({ host }) => host === pulls.host);
    await this.#keep(open);
    for (const pull of open) await this.#sendBackRed(settings, pull);
    await this.#moveBack(settings, open);
    await this.#sayVerdicts.say(pulls, settings, this.#unsaid);
    await this.#mergeReady(settings);
    this.#check(settings, open);
  }

  async #mergeReady(settings: Settings): Promise<void> {
    const { autoMerge, project, pullsFor, store } = this.#parts;
    const pulls = pullsFor(settings);
    if (pulls === null || settings.review.autoMerge.length === 0) return;
    const open = (await store.pullRequests.allOpen(project)).filter(({ host }) => host === pulls.host);
    await autoMerge.merge(pulls, open, this.#open);
    await this.#keep(await store.pullRequests.allOpen(project));
  }

  /** Reads the host and records what others did there. A remote host that does not answer is no reason to do nothing. */
  async #follow(pulls: PullRequests, settings: Settings, closed: readonly PullRequest[]): Promise<void> {
    const { activity, clock, logger, notify, project, requestTick, stopping, store } = this.#parts;
    const { remote } = pulls;
    if (remote !== undefined && !this.#isDue(remote, settings)) return;
    const parts = {
      store,
      pulls,
      onMerged: (pull: PullRequest, merged: Merged) => finishIssue(this.#parts, pull, merged),
      onClosed: (pull: PullRequest, by: Author) => this.#holdClosed(settings, pull, by),
    };
    try {
      const followed = await followChanges(parts, project, { at: clock.now(), someone, signal: stopping, closed });
      this.#failures = 0;
      if (followed.some(({ effect }) => effect !== null)) {
        activity.note();
        notify();
        requestTick();
      }
      if (remote === undefined) return;
      for (const { pull, facts, effect } of followed) {
        if (effect === null) await this.#react(remote, settings, pull, facts);
      }
    } catch (thrown) {
      if (remote === undefined || stopping.aborted) throw thrown;
      this.#failures += 1;
      logger.warn('pull_requests_not_read', { error: toBatonError(thrown) });
    }
  }

  /** A remote host is read at the pace of polls: seldom while nothing happens or requests are short. */
  #isDue({ pressure }: RemoteHost, { polling }: Settings): boolean {
    const { activity, clock } = this.#parts;
    const { step, spacingMs, until } = pressure();
    if (step === 'closed' && until !== null && until > clock.now()) return false;
    const pace = paceOf({ polling, now: clock.now(), lastActivityAt: activity.lastAt, isLocal: false });
    const wantedMs = Math.max(pace.intervalMs, spacingMs);
    const intervalMs = afterFailures(wantedMs, this.#failures, polling.dormantIntervalMs);
    // The job itself runs at a grid of its own.
    if (clock.monotonic() - this.#readAt < intervalMs) return false;
    this.#readAt = clock.monotonic();
    return true;
  }

  /** Before the end is recorded: after a crash in between, it is found closed and held again. */
  async #holdClosed(settings: Settings, pull: PullRequest, by: Author): Promise<void> {
    const { claims, clock, store } = this.#parts;
    const { issueId: id, identifier, number, url, headCommit, sentBack, movedAt } = pull;
    // A head that a person pushed stood in review without a move. A later move of the issue ends the hold.
    if (sentBack === null && movedAt === null && (await this.#isInReview(settings, pull)))
      await store.pullRequests.moved(pull, headCommit, clock.now());
    // Another reason to hold it, such as an agent that may be alive, is not replaced.
    if (claims.held.has(id)) return;
    const who = by.kind === 'person' ? harmlessLine(by.name) : 'someone';
    const reason = `Pull request ${number}${url === null ? '' : ` (${url})`} was closed by ${who} without a merge. For more work by an agent, move the issue back to an active state. If no more work is needed, close the issue.`;
    await claims.hold({ issue: { id, identifier }, since: clock.now(), runId: null, code: 'pull_closed', reason });
  }

  /** The last pull requests of the issues that wait for a word about a closed one. */
  async #heldClosed(): Promise<readonly PullRequest[]> {
    const { claims, project, store } = this.#parts;
    const ids = [...claims.held.values()].filter(({ code }) => code === 'pull_closed').map(({ issue }) => issue.id);
    return ids.length === 0 ? [] : await store.pullRequests.latestOfIssues(project, ids);
  }

  /** After the record, which another daemon may have written: the question is answered once the pull request is open. */
  async #endReopenedHolds(): Promise<void> {
    const { claims, logger, notify, requestTick } = this.#parts;
    for (const { issueId, identifier, number, closed, merged } of await this.#heldClosed()) {
      const held = claims.held.get(issueId);
      if (held === undefined || closed !== null || merged !== null) continue;
      await claims.release(issueId, { byPerson: false, only: held });
      logger.info('change_reopened', { issue_id: issueId, issue_identifier: identifier, pull_request: number });
      notify();
      requestTick();
    }
  }

  /** What the host says about the standing head, as words for the agent. */
  async #react(remote: RemoteHost, settings: Settings, pull: PullRequest, facts: PullFacts): Promise<void> {
    const reaction = hostReaction(pull, facts);
    if (reaction === null || !(await this.#mayGoBack(settings, pull, reaction.kind))) return;
    const { project, store } = this.#parts;
    const words = (await reactionWords(reaction, facts, remote)).map(({ id, ...each }) => ({
      ...each,
      id: `${project}:${pull.number}:${id}`,
    }));
    if (reaction.kind === 'review') {
      const said = new Set(
        (await store.messages.list({ project, issueId: pull.issueId }, mostMessages)).map(({ id }) => id),
      );
      // An earlier round had these words.
      if (words.length > 0 && words.every(({ id }) => said.has(id))) return;
    }
    const by: Author =
      reaction.kind === 'review' ? { kind: 'person', name: reaction.author } : { kind: 'orchestrator' };
    await this.#sendBack(settings, pull, { kind: reaction.kind, by, words });
  }

  async #keep(pulls: readonly PullRequest[]): Promise<void> {
    const { autoMerge, pullsFor, source, store } = this.#parts;
    const { settings } = source.read().workflow;
    const { judge: judging, review } = settings;
    const wanted = review.checks.map(({ name }) => name);
    const open = new Map<string, OpenPull>();
    const unsaid: UnsaidVerdict[] = [];
    for (const pull of pulls) {
      const own = await store.checks.list(pull, pull.headCommit);
      const facts = pullsFor(settings)?.remote?.lastRead(pull);
      const ofHost = facts?.headCommit === pull.headCommit ? (facts.checks ?? []) : [];
      const all = headVerdict(pull, [...own, ...ofHost], wanted);
      const verdicts = judging.agents.length === 0 ? [] : await store.verdicts.list(pull);
      unsaid.push(...verdicts.filter(({ hostId }) => hostId === null).map((verdict) => ({ pull, verdict })));
      const judge = judging.agents.length === 0 ? null : judgeState(pull, verdicts, all, judging);
      const { number, headCommit, timesSentBack } = pull;
      open.set(pull.issueId, {
        number,
        headCommit,
        timesSentBack,
        status: pullStatus(pull),
        judge,
        checks: headVerdict(pull, own, wanted),
        autoMerge: autoMerge.stateOf(pull, { judge, checks: all }),
      });
    }
    this.#unsaid = unsaid;
    this.#isRead = true;
    if (isDeepStrictEqual(open, this.#open)) return;
    this.#open = open;
    this.#parts.notify();
    if ([...open.values()].some(({ judge }) => judge?.status === 'wanted')) this.#parts.fillSlots();
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
    await this.#mergeReady(settings);
  }

  async #sendBackRed(settings: Settings, pull: PullRequest): Promise<void> {
    const { store } = this.#parts;
    if (pull.sentBack !== null) return;
    const checks = await store.checks.list(pull, pull.headCommit);
    if (checksVerdict(checks) !== 'red' || checks.some(({ result }) => result === null)) return;
    if (!(await this.#mayGoBack(settings, pull, 'check'))) return;
    const red = checks.filter(({ result }) => result === 'failed' || result === 'timed_out');
    const by = { kind: 'orchestrator' } as const;
    const words = red.map(({ name, command, result, output }) => {
      const how = result === 'timed_out' ? 'took too long' : 'failed';
      const said = harmlessLines((output ?? '').slice(-longestOutput)).trim();
      const body = `The check "${name}" (${command}) ${how}. The end of its output:\n\n${said}`;
      return { kind: 'check', author: by, body } as const;
    });
    await this.#sendBack(settings, pull, { kind: 'check', by, words });
  }

  /** Whether this head may go back by itself for such a reason. A reviewer may ask more than once. */
  async #mayGoBack(settings: Settings, pull: PullRequest, kind: SentBackKind): Promise<boolean> {
    const all = await this.#parts.store.pullRequests.rounds(pull);
    if (sentBackBy(all, ['check', 'conflict', 'review']) >= settings.review.maxRounds) return false;
    // No agent would take it. The last poll knows: a read of its own for each pass would cost requests.
    const known = this.#parts.reads.lastRead(pull.issueId) ?? null;
    if (known !== null && whyNotBatons(known, settings.tracker) !== null) return false;
    const rounds = all.filter(({ headCommit }) => headCommit === pull.headCommit);
    // A person who brought the same commit into review again wants it there.
    if (kind !== 'review' && rounds.some(({ sentBack }) => sentBack?.kind === kind)) return false;
    const isPushed = rounds.at(-1)?.runId === null;
    return pull.movedAt !== null || (isPushed && (await this.#isInReview(settings, pull)));
  }

  /** The head goes back once, with its words: both are written together. */
  async #sendBack(settings: Settings, pull: PullRequest, { kind, by, words }: SendingBack): Promise<void> {
    const { store, project, clock, chance, logger, activity } = this.#parts;
    const { issueId, headCommit: commit } = pull;
    const at = clock.now();
    const isSent = await store.transaction(async (tables) => {
      if (!(await tables.pullRequests.sendBack(pull, commit, { at, by, kind }))) return false;
      for (const each of words)
        await tables.messages.leave({ project, issueId }, { id: chance.id(), ...each, at, commit });
      return true;
    });
    if (!isSent) return;
    activity.note();
    const named = { issue_id: issueId, issue_identifier: pull.identifier, pull_request: pull.number };
    logger.info('change_sent_back', { ...named, kind });
    const sent = await store.pullRequests.read(pull);
    if (sent !== null) await this.#moveBack(settings, [sent]);
  }

  /** A head that a person pushed needs no move where its issue is in review; any other is moved by its delivery. */
  async #isInReview({ tracker }: Settings, pull: PullRequest): Promise<boolean> {
    const issue = (await this.#parts.reads.byIds([pull.issueId], caller)).get(pull.issueId) ?? null;
    return issue !== null && isInOneOf(tracker.reviewStates)(issue);
  }

  /** Moves the issues of changes that were sent back out of review; a failure is tried again at the next pass. */
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
        if (issue !== null && isToLeaveReview(issue, settings))
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

interface SendingBack {
  readonly kind: SentBackKind;
  readonly by: Author;
  readonly words: readonly (Pick<MessageDraft, 'kind' | 'author' | 'body'> & Partial<MessageDraft>)[];
}

function isToBeMovedBack({ sentBack, movedAt }: PullRequest): boolean {
  return sentBack !== null && sentBack.kind !== 'moved' && movedAt === null;
}

/** An issue that a person took from Baton meanwhile stays where it is. */
function isToLeaveReview(issue: Issue, { tracker }: Settings): boolean {
  return isInOneOf(tracker.reviewStates)(issue) && whyNotBatons(issue, tracker) === null;
}
