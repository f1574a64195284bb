import { toBatonError } from '../../core/baton-error.ts';
import type { CommandKind } from '../../core/command/command.ts';
import { type CommandAnswer, done, refused } from '../../core/command/command-answers.ts';
import { stateFor } from '../../core/issue/state-role.ts';
import { autoMergeObjections } from '../../core/pull/auto-merge.ts';
import {
  checkResults,
  checksVerdict,
  type MergeMethod,
  type PullRequest,
  pullStatus,
} from '../../core/pull/pull-request.ts';
import type { Settings } from '../../core/settings.ts';
import { mergeChange } from '../../pulls/changes.ts';
import type { MergeRefusal, PullRequests } from '../../pulls/pull-requests.ts';
import type { Command } from '../../store/tables/commands.ts';
import type { BaseParts } from '../parts.ts';
import { moveIssue } from '../status/move-issue.ts';
import { type FinishParts, finishIssue } from './finish-issue.ts';
import type { PullWatch } from './watch-pulls.ts';

export interface DecidePullParts extends FinishParts, Pick<BaseParts, 'own' | 'project'> {
  readonly pullWatch: Pick<PullWatch, 'run'>;
  /** Null for a project without a repository. */
  readonly pullsFor: (settings: Settings) => PullRequests | null;
}

const pullCommandKinds = ['pr_approve', 'pr_merge', 'pr_send_back', 'pr_close', 'pr_check'] as const;

export type PullCommandKind = (typeof pullCommandKinds)[number];

export function isPullCommandKind(kind: CommandKind): kind is PullCommandKind {
  return (pullCommandKinds as readonly CommandKind[]).includes(kind);
}

/**
 * A person decides about a change under review. What must hold:
 *
 * - The decision is about the head that the person saw. If another head is in review by then, nothing is done.
 * - A command that was carried out and not answered comes again after a crash, and then does nothing twice.
 * - Words for the agent are in the store before the change goes back.
 */
export async function decidePull(
  parts: DecidePullParts,
  command: Command,
  kind: PullCommandKind,
): Promise<CommandAnswer> {
  const { pull: number, head } = command.payload;
  const pull = await parts.store.pullRequests.read({ project: parts.project, number: Number(number) });
  if (pull === null) return refused('pull_not_found', `There is no pull request ${String(number)}.`);
  const status = pullStatus(pull);
  if (status === 'merged' && kind === 'pr_merge')
    return done('change_merged', `${named(pull)} is merged.`, { commit: pull.merged?.commit });
  if (status === 'closed' && kind === 'pr_close') return done('change_closed', `${named(pull)} is closed.`);
  if (status === 'merged' || status === 'closed')
    return refused('pull_ended', `${named(pull)} is already ${status}.`, { status });
  if (kind !== 'pr_close' && head !== pull.headCommit)
    return refused('head_moved', `${named(pull)} has a newer commit than the one you saw. Read it again.`, {
      head: pull.headCommit,
    });
  return decisions[kind](parts, pull, command);
}

type Decision = (parts: DecidePullParts, pull: PullRequest, command: Command) => Promise<CommandAnswer>;

const decisions: Record<PullCommandKind, Decision> = {
  async pr_approve({ store, notify }, pull, { at, author }) {
    if (!(await store.pullRequests.approve(pull, pull.headCommit, { at, by: author })))
      return refused('change_sent_back_before', `${named(pull)} was sent back; wait for the next round.`);
    notify();
    return done('change_approved', `${named(pull)} is approved.`);
  },

  async pr_send_back(parts, pull, command) {
    const { project, store, source, trackerFor, notify, requestTick } = parts;
    const { settings } = source.read().workflow;
    const { changes } = trackerFor(settings);
    const todo = stateFor('todo', settings.tracker).state ?? settings.tracker.activeStates[0];
    if (changes === null || todo === undefined)
      return refused('tracker_elsewhere', `Baton cannot move ${pull.identifier}. Move it back in its tracker.`);
    const { id, at, author } = command;
    const key = { project, issueId: pull.issueId };
    await store.transaction(async (tables) => {
      for (const [place, words] of wordsOf(command).entries())
        await tables.messages.leave(key, { id: `${id}:${place}`, at, author, ...words, commit: pull.headCommit });
      // A repeated command changes nothing here, and its words are already stored.
      await tables.pullRequests.sendBack(pull, pull.headCommit, { at, by: author, kind: 'person' });
    });
    try {
      const caller = { job: 'review', cause: 'person' } as const;
      await moveIssue(parts, changes, { id: pull.issueId, to: todo, by: author, caller });
    } catch (thrown) {
      const error = toBatonError(thrown);
      // A daemon that stops leaves the command to the next one.
      if (error.retryable || parts.stopping.aborted) throw error;
      return refused(error.code, `${error.message} Your words wait for the next run.`, error.details);
    }
    notify();
    requestTick();
    return done('change_sent_back', `${named(pull)} goes back to the agent.`, { rounds: pull.timesSentBack + 1 });
  },

  async pr_merge(parts, pull, { at, author, payload }) {
    const { source, store, pullsFor, notify, requestTick } = parts;
    const { settings } = source.read().workflow;
    const host = pullsFor(settings);
    if (host === null) return refused('not_merged', 'This project has no repository.', { problem: 'no_repository' });
    const wanted = settings.review.checks.map(({ name }) => name);
    const [facts] = await host.read([pull]);
    const ofHost = facts?.headCommit === pull.headCommit ? (facts.checks ?? []) : [];
    const verdict = checksVerdict([...(await store.checks.list(pull, pull.headCommit)), ...ofHost], wanted);
    // The host would refuse it, whatever the person ignores.
    const required = ofHost.filter(({ isRequired, result }) => isRequired && result !== 'passed');
    if (required.length > 0)
      return notMerged(pull, { code: 'checks_missing', names: required.map(({ name }) => name) });
    if (payload.ignores_checks !== true && verdict !== 'none' && verdict !== 'green')
      return refused(
        'not_merged',
        `The checks of ${named(pull)} are not green (${verdict}). \`baton pr show ${pull.number}\` lists them; \`baton pr merge ${pull.number} --ignore-checks\` merges anyway.`,
        { problem: 'checks_not_green', verdict },
      );
    // A base that the person did not name is the current one: the host still refuses where it moves meanwhile.
    const baseCommit = typeof payload.base === 'string' ? payload.base : (facts?.baseCommit ?? pull.baseCommit);
    const method = (payload.method as MergeMethod | undefined) ?? settings.review.mergeMethod;
    const result = await mergeChange(
      { store, pulls: host, onMerged: (each, merged) => finishIssue(parts, each, merged) },
      pull,
      { headCommit: pull.headCommit, baseCommit, method, by: author, at },
    );
    if (result.outcome === 'refused') return notMerged(pull, result.refusal);
    notify();
    requestTick();
    return done('change_merged', `${named(pull)} is merged into ${pull.base}.`, { commit: result.commit });
  },

  async pr_check({ own, pullWatch, source, store, notify }, pull, { id, begun, payload: { name } }) {
    if (pull.sentBack !== null)
      return refused('change_sent_back_before', `${named(pull)} was sent back; wait for the next round.`);
    const { checks } = source.read().workflow.settings.review;
    const results = new Map(
      (await store.checks.list(pull, pull.headCommit)).map((check) => [check.name, check.result]),
    );
    const wanted = checks.filter((check) =>
      name === undefined ? results.get(check.name) !== 'passed' : check.name === name,
    );
    const names = (some: typeof checks): readonly string[] => some.map((check) => check.name);
    // A command that comes again after a crash repeats no check that has ended since.
    if (begun === null) {
      if (name !== undefined && wanted.length === 0)
        return refused('check_not_found', `The workflow file has no check "${String(name)}".`, {
          checks: names(checks),
        });
      if (wanted.length === 0)
        return refused('nothing_to_check', `No check of review.checks is left to run for ${named(pull)}.`);
      await store.transaction(async (tables) => {
        await tables.commands.begin(id, 'the checks are planned');
        for (const { name: each, run: command } of wanted)
          await tables.checks.again(pull, pull.headCommit, { name: each, command }, checkResults);
      });
    }
    notify();
    own('pull requests', pullWatch.run());
    return done('checks_again', `The checks of ${named(pull)} run again.`, { checks: names(wanted) });
  },

  async pr_close({ source, store, pullsFor, notify }, pull, { at, author }) {
    const host = pullsFor(source.read().workflow.settings);
    // A merge at its host that was not read yet finishes the issue; a record as closed would hide it.
    const [facts] = host?.remote === undefined ? [] : await host.read([pull]);
    if (facts?.merged != null) return refused('pull_ended', `${named(pull)} is already merged.`, { status: 'merged' });
    await host?.close(pull);
    await store.pullRequests.close(pull, { at, by: author });
    notify();
    return done('change_closed', `${named(pull)} is closed. Its branch and its issue stay as they are.`);
  },
};

function named({ number, identifier }: PullRequest): string {
  return `Pull request ${number} of ${identifier}`;
}

interface Words {
  readonly kind: 'note' | 'review_comment';
  readonly body: string;
  readonly path?: string;
  readonly line?: number;
}

/** The note first, then the comments on lines. The schema of the request has checked them. */
function wordsOf({ payload }: Command): readonly Words[] {
  const comments = (payload.comments ?? []) as readonly { path: string; line: number; text: string }[];
  return [
    ...(typeof payload.note === 'string' ? [{ kind: 'note', body: payload.note } as const] : []),
    ...comments.map(({ path, line, text }) => ({ kind: 'review_comment', body: text, path, line }) as const),
  ];
}

function notMerged(pull: PullRequest, refusal: MergeRefusal): CommandAnswer {
  const { code: problem, ...facts } = refusal;
  // In that folder, `baton pr merge` merges it next.
  const what = problem === 'checked_out' ? 'is not merged yet' : 'was not merged';
  return refused('not_merged', `${named(pull)} ${what}: ${whyNotMerged(pull, refusal)}`, { problem, ...facts });
}

function whyNotMerged({ base, branch }: PullRequest, refusal: MergeRefusal): string {
  switch (refusal.code) {
    case 'head_moved':
      return `${branch} has moved.`;
    case 'base_moved':
      return `${base} has moved. Try again.`;
    case 'conflict':
      return `it conflicts with ${base}${refusal.files.length === 0 ? '' : ` in ${refusal.files.join(', ')}`}. Send it back to be rebased.`;
    case 'unrelated':
      return `it has no commit in common with ${base}.`;
    case 'checked_out':
      return `${base} is checked out in ${refusal.folder}, where the daemon does not write. \`baton pr merge\` in that folder merges it.`;
    case 'dirty':
      return `${refusal.folder} has changes that are not committed.`;
    case 'no_identity':
      return 'git does not know your name. Set user.name and user.email in the repository.';
    case 'protected':
      return refusal.reason;
    case 'checks_missing':
      return `its host requires checks that have not passed: ${refusal.names.join(', ')}.`;
    case 'not_automatic':
      return `${autoMergeObjections[refusal.objection]}.`;
    case 'closed':
      return 'it was merged or closed meanwhile.';
  }
}
