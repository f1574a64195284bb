import type { Author } from '../../core/issue/author.ts';
import { type Issue, isInOneOf } from '../../core/issue/issue.ts';
import { hasPipeline } from '../../core/pipeline/phase.ts';
import { goesBack, type JudgedCommit, judgeState, sentBackBy } from '../../core/pull/judge.ts';
import type { OpenPull } from '../../core/pull/open-pull.ts';
import { type PullRequest, standsInReview } from '../../core/pull/pull-request.ts';
import type { AgentWish } from '../../core/run/choose-agent.ts';
import type { Role } from '../../core/run/role.ts';
import type { RunOutcome } from '../../core/run/run.ts';
import type { Settings } from '../../core/settings.ts';
import { isTaskRole, taskRoleOf } from '../../core/task/task.ts';
import type { WorkflowSource } from '../../core/workflow.ts';
import type { PullRequests } from '../../pulls/pull-requests.ts';
import type { JudgeBrief } from '../../runner/runner.ts';
import type { Store, StoreTables } from '../../store/store.ts';
import type { Running } from '../claims/claim.ts';
import type { BaseParts } from '../parts.ts';
import { latestArtifacts } from '../pipeline/phase-brief.ts';
import type { Phases } from '../pipeline/phases.ts';
import { isOnlyReview } from '../poll/candidates.ts';

export interface JudgesParts {
  readonly source: WorkflowSource;
  readonly pullWatch: { readonly open: ReadonlyMap<string, OpenPull>; readonly isRead: boolean };
  readonly phases: Phases;
}

/** Which changes wait for a judge, as the watch over pull requests last saw them. The start of a run reads the store. */
export class Judges {
  readonly #parts: JudgesParts;

  constructor(parts: JudgesParts) {
    this.#parts = parts;
  }

  /** Whether the changes in review are known: not in the first moments of a daemon. */
  get areKnown(): boolean {
    return this.#parts.pullWatch.isRead;
  }

  /** The change that a judge is to review; null: none of this issue. */
  wanted(issueId: string): (JudgedCommit & { readonly agent: string }) | null {
    const pull = this.#parts.pullWatch.open.get(issueId);
    if (pull?.judge?.status !== 'wanted') return null;
    const { place, agent } = pull.judge;
    return { number: pull.number, commit: pull.headCommit, place, agent };
  }

  /** The role of the next run of an issue. */
  roleOf = (issue: Issue): Role => {
    const ofTask = taskRoleOf(issue.id);
    if (ofTask !== null) return ofTask;
    // Few issues wait for a judge, and every decision asks about all of them.
    if (this.wanted(issue.id) !== null) {
      const { reviewStates } = this.#parts.source.read().workflow.settings.tracker;
      if (isInOneOf(reviewStates)(issue)) return 'judge';
    }
    return this.#parts.phases.roleOf(issue);
  };

  /** The issues that a decision is about: of those in review only the ones that wait for a judge. */
  candidates(issues: readonly Issue[]): readonly Issue[] {
    const isReview = isOnlyReview(this.#parts.source.read().workflow.settings.tracker);
    return issues.filter((issue) => !isReview(issue) || this.roleOf(issue) === 'judge');
  }

  /** Which agent the next run of an issue has, as far as its role says. */
  wishFor(issue: Issue, failures: number): AgentWish {
    const { phases, source } = this.#parts;
    const { settings } = source.read().workflow;
    const role = this.roleOf(issue);
    const ofRole =
      role === 'judge'
        ? (this.wanted(issue.id)?.agent ?? null)
        : isTaskRole(role)
          ? settings[role].agent
          : phases.agentOf(issue, settings);
    return { issue, chosen: null, ofRole, failures };
  }

  /** Everything that the role of an issue depends on, as JSON data. */
  facts(): unknown {
    const wanted = [...this.#parts.pullWatch.open].flatMap(([id, { judge, headCommit }]) =>
      judge?.status === 'wanted' ? [[id, headCommit, judge.place, judge.agent]] : [],
    );
    return [wanted, this.#parts.phases.facts()];
  }
}

export interface JudgeBriefParts {
  readonly store: Pick<Store, 'artifacts' | 'checks' | 'messages' | 'pullRequests' | 'verdicts'>;
  readonly pullsFor: (settings: Settings) => PullRequests | null;
}

/** More than people say about one change. */
const mostWords = 200;

/** What a judge gets to know about a change in addition to its issue and its commit. */
export async function briefFor(
  { store, pullsFor }: JudgeBriefParts,
  pull: PullRequest,
  { commit, settings }: { readonly commit: string; readonly settings: Settings },
): Promise<JudgeBrief> {
  const { number, title, body, branch, base, baseCommit } = pull;
  const facts = pullsFor(settings)?.remote?.lastRead(pull);
  const ofHost = facts?.headCommit === commit ? (facts.checks ?? []) : [];
  const words = (await store.messages.list(pull, mostWords)).filter(({ author }) => author.kind === 'person');
  const wordsAt = (head: string) => words.flatMap((each) => (each.commit === head ? [each.body] : []));
  const rounds = await store.pullRequests.rounds(pull);
  return {
    number,
    title,
    body,
    branch,
    base,
    baseCommit,
    commit,
    checks: [...(await store.checks.list(pull, commit)), ...ofHost],
    rounds: rounds.map(({ headCommit, sentBack }) => ({ headCommit, sentBack, words: wordsAt(headCommit) })),
    verdicts: await store.verdicts.list(pull),
    artifacts: hasPipeline(settings.pipeline) ? await latestArtifacts(store, pull, settings.pipeline) : [],
  };
}

/** Whether a judge gave a verdict that counts: it left the files of the commit as they are. */
export function hasVerdict({ opinion, changed }: Running, { end }: RunOutcome): boolean {
  return end === 'succeeded' && opinion !== null && changed === false;
}

/** Whether a change whose judge gave no verdict may go back to its agent: that is a round of the judge too. */
export async function mayGoBackUnjudged(
  { project, source, store }: Pick<BaseParts, 'project' | 'source' | 'store'>,
  { judged }: Running,
): Promise<boolean> {
  const { maxRounds, withoutVerdict } = source.read().workflow.settings.judge;
  if (judged === null || withoutVerdict !== 'todo') return false;
  const rounds = await store.pullRequests.rounds({ project, number: judged.number });
  return sentBackBy(rounds, ['judge']) < maxRounds;
}

/** After this many runs without a verdict the change goes back to its agent, where the settings say so. */
const noVerdict = 'The judge of this change gave no verdict. Check whether the change is complete and easy to review.';

/**
 * With the end of a judge's run: writes its verdict, and sends the change back if the verdicts reject it. What a judge says
 * about a commit that is not in review any more is not kept.
 */
export async function writeJudgement(
  { chance, clock, project, source }: Pick<BaseParts, 'chance' | 'clock' | 'project' | 'source'>,
  tables: StoreTables,
  running: Running,
  { outcome, isGivenUp }: { readonly outcome: RunOutcome; readonly isGivenUp: boolean },
): Promise<void> {
  const { judged, opinion, runId, agent, workflow } = running;
  const { judge } = source.read().workflow.settings;
  if (judged === null) return;
  const pull = await tables.pullRequests.read({ project, number: judged.number });
  if (pull === null || !standsInReview(pull) || pull.headCommit !== judged.commit) return;
  const { commit, place } = judged;
  const at = clock.now();
  const author = { kind: 'run', runId } as const;
  const sendBack = async (words: readonly FindingWords[]): Promise<void> => {
    if (!(await tables.pullRequests.sendBack(pull, commit, { at, by: author, kind: 'judge' }))) return;
    const key = { project, issueId: pull.issueId };
    for (const each of words)
      await tables.messages.leave(key, { id: chance.id(), kind: 'review_comment', at, commit, ...each });
  };
  if (isGivenUp) return sendBack([{ author, body: noVerdict }]);
  if (opinion === null || !hasVerdict(running, outcome)) return;
  const { version: promptVersion } = workflow.promptOf({ issueId: running.issue.id, role: running.role, phase: null });
  await tables.verdicts.add(pull, { ...opinion, commit, place, runId, agent, promptVersion, at });
  const verdicts = await tables.verdicts.list(pull);
  if (judgeState(pull, verdicts, 'none', judge)?.status !== 'rejected') return;
  if (!goesBack(commit, verdicts, await tables.pullRequests.rounds(pull), judge)) return;
  const rejecting = verdicts.filter((each) => each.commit === commit && each.verdict === 'rejected');
  await sendBack(
    rejecting.flatMap(({ summary, findings, runId: by }) => [
      { author: { kind: 'run', runId: by } as const, body: summary },
      ...findings.map(({ file: path, line, severity, problem, wanted }) => ({
        author: { kind: 'run', runId: by } as const,
        path,
        line,
        body: `${problem} (${severity})\n\nWhat would satisfy the judge: ${wanted}`,
      })),
    ]),
  );
}

interface FindingWords {
  /** The judge that found it. */
  readonly author: Author;
  readonly body: string;
  readonly path?: string | null;
  readonly line?: number | null;
}
