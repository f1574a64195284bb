import { BatonError } from '../core/baton-error.ts';
import type { Verdict } from '../core/pull/judge.ts';
import type { SentBackKind } from '../core/pull/pull-request.ts';
import { fence, fenceRule, fenceState, unfencedLine } from '../core/text/fence.ts';
import type { Workspaces } from '../workspace/workspace.ts';
import type { JudgeBrief, JudgedRound } from './runner.ts';

/** A judge without a verdict after this many turns will not give one. */
export const judgeTurns = 3;

/**
 * The prompt of a judge: the template of the workflow file, then what Baton knows about the change. The words of its agent, its
 * files and the output of its checks are data.
 */
export function judgePrompt(template: string, brief: JudgeBrief, diff: string, mark: string): string {
  const { commit, base, branch, title, body, checks, rounds, artifacts } = brief;
  const earlier = rounds.filter(({ headCommit }) => headCommit !== commit);
  return [
    // A template without words of strangers does not explain the fence, and the change always has one.
    ...(fenceState(template, mark) === 'none' ? [fenceRule(mark)] : []),
    template,
    [
      `You judge commit ${commit} of the branch ${unfencedLine(branch, mark)}, which is to go into ${unfencedLine(base, mark)}. The`,
      'current folder is a clean checkout of exactly this commit. Do not change anything in it: a changed file voids your verdict.',
    ].join(' '),
    ...artifacts.map(({ phase, text }) => `The phase "${phase}" prepared the issue:\n\n${fence(text, mark)}`),
    `What its author says about the change:\n\n${fence(`${title}\n\n${body}`, mark)}`,
    checks.length === 0
      ? 'No checks ran on this commit.'
      : ['The results of its checks:', '', ...checks.map((check) => checkLine(check, mark))].join('\n'),
    ...(earlier.length === 0 ? [] : [roundsText(earlier, brief, mark)]),
    `The change:\n\n${fence(diff, mark)}`,
    [
      'End with exactly one call: `approve_pr` if the change does what the issue asks and can be merged, or `reject_pr` with your',
      'findings if it cannot. Baton reads nothing else that you write as a verdict.',
    ].join(' '),
  ].join('\n\n');
}

/** For a judge whose turn ended without a verdict. */
export const verdictPrompt = 'You have not given a verdict. Call `approve_pr` or `reject_pr` now; nothing else counts.';

function checkLine({ name, result }: JudgeBrief['checks'][number], mark: string): string {
  return `- ${unfencedLine(name, mark)}: ${result ?? 'no result'}`;
}

/** Earlier commits, what judges and people said about each, and what became of it. */
function roundsText(earlier: readonly JudgedRound[], { verdicts, rounds }: JudgeBrief, mark: string): string {
  const lines = earlier.flatMap(({ headCommit, sentBack, words }) => [
    `${headCommit.slice(0, 12)}: ${sentBack === null ? 'replaced by a newer commit' : sentBackWords[sentBack.kind]}`,
    ...verdicts.filter(({ commit }) => commit === headCommit).flatMap(verdictLines),
    ...words.map((each) => `  A person said: ${each}`),
  ]);
  return `This is round ${rounds.length}. Earlier rounds; check whether what was wanted is done:\n\n${fence(lines.join('\n'), mark)}`;
}

const sentBackWords: Readonly<Record<SentBackKind, string>> = {
  person: 'sent back by a person',
  check: 'sent back because of a red check',
  conflict: 'sent back because of a conflict with the base',
  review: 'sent back because of a review at its host',
  judge: 'sent back by its judge',
  moved: 'sent back by a person who moved the issue',
};

function verdictLines({ verdict, summary, findings }: Verdict): string[] {
  return [
    `  A judge ${verdict} it: ${summary}`,
    ...findings.map(({ file, line, problem, wanted }) => {
      const place = file === null ? '' : `${file}${line === null ? '' : `:${line}`}: `;
      return `  - ${place}${problem} Wanted: ${wanted}`;
    }),
  ];
}

/** What a run does with workspaces. */
export type RunWorkspaces = Pick<
  Workspaces,
  'prepare' | 'beforeRun' | 'verify' | 'commitRest' | 'afterRun' | 'examine' | 'keepOut' | 'readFile'
>;

/** The checkout of a judge: a folder that is compared, and deleted afterwards. */
export interface RunCheckout extends AsyncDisposable {
  readonly folder: string;
  readonly commit: string | null;
  readonly diff: string;
  fingerprint(): Promise<string | null>;
}

/** The runner treats the checkout of a judge as a workspace in which there is nothing to publish. */
export function asWorkspaces({ fingerprint }: RunCheckout): RunWorkspaces {
  const nothing = async (): Promise<void> => {};
  return {
    prepare: () => Promise.reject(new BatonError('internal_error', 'The checkout of a judge is there already.')),
    beforeRun: nothing,
    keepOut: nothing,
    readFile: async () => ({ why: 'a judge has no files of its own' }),
    verify: nothing,
    commitRest: async () => null,
    afterRun: async () => null,
    examine: async () => {
      const found = await fingerprint().catch(() => null);
      return found === null ? null : { fingerprint: found, git: null };
    },
  };
}
