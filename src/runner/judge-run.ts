import { BatonError } from '../core/baton-error.ts';
import type { Verdict } from '../core/pull/judge.ts';
import { fence, fenceRule, fenceState, unfencedLine } from '../core/text/fence.ts';
import type { Workspaces } from '../workspace/workspace.ts';
import type { JudgeBrief } from './runner.ts';

/** A judge without a verdict after this many turns will not give one. */
export const judgeTurns = 3;

/**
 * The prompt of a judge: the template of the workflow file, then what Baton knows about the change. The words of its agent, its
 * files and the output of its checks are data.
 */
export function judgePrompt(template: string, brief: JudgeBrief, diff: string, mark: string): string {
  const { commit, base, branch, title, body, checks, verdicts, rounds } = brief;
  const earlier = verdicts.filter((each) => each.commit !== commit);
  return [
    // A template without words of strangers does not explain the fence, and the change always has one.
    ...(fenceState(template, mark) === 'none' ? [fenceRule(mark)] : []),
    template,
    [
      `You judge commit ${commit} of the branch ${unfencedLine(branch, mark)}, which is to go into ${unfencedLine(base, mark)}. The`,
      'current folder is a clean checkout of exactly this commit. Do not change anything in it: a changed file voids your verdict.',
    ].join(' '),
    `What its author says about the change:\n\n${fence(`${title}\n\n${body}`, mark)}`,
    checks.length === 0
      ? 'No checks ran on this commit.'
      : ['The results of its checks:', '', ...checks.map((check) => checkLine(check, mark))].join('\n'),
    ...(earlier.length === 0 ? [] : [roundsText(earlier, rounds.length, mark)]),
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

function roundsText(verdicts: readonly Verdict[], rounds: number, mark: string): string {
  const lines = verdicts.flatMap(({ commit, verdict, summary, findings }) => [
    `${commit.slice(0, 12)} was ${verdict}: ${summary}`,
    ...findings.map(({ file, line, problem, wanted }) => {
      const place = file === null ? '' : `${file}${line === null ? '' : `:${line}`}: `;
      return `  - ${place}${problem} Wanted: ${wanted}`;
    }),
  ]);
  return `This is round ${rounds}. Earlier verdicts; check whether their findings are resolved:\n\n${fence(lines.join('\n'), mark)}`;
}

/** What a run does with workspaces. */
export type RunWorkspaces = Pick<
  Workspaces,
  'prepare' | 'beforeRun' | 'verify' | 'commitRest' | 'beginToPublish' | 'afterRun' | 'examine' | 'keepOut' | 'readFile'
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
    beginToPublish: () => {},
    afterRun: async () => null,
    examine: async () => {
      const found = await fingerprint().catch(() => null);
      return found === null ? null : { fingerprint: found, git: null };
    },
  };
}
