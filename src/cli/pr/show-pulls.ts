import path from 'node:path';
import type { Pull, PullDetail } from '../../client/schema/pull.ts';
import type { Diff } from '../../client/schema/run.ts';
import { judgeWords } from '../../core/pull/judge.ts';
import { governingText } from '../../core/run/governing-files.ts';
import { durationText } from '../../core/text/amount-text.ts';
import { harmlessLine, harmlessLines } from '../../core/text/harmless-line.ts';
import { connect } from '../../daemon/connect.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import type { WorkplaceFlags } from '../../daemon/workplace.ts';
import { cut } from '../cell-text.ts';
import { columns } from '../columns.ts';
import { exitCodes } from '../exit-codes.ts';
import { authorWords, timeWords } from '../issue/history-words.ts';
import { jsonLine } from '../json-line.ts';
import { commandsHere } from '../place-flags.ts';

export interface PullFlags extends WorkplaceFlags {
  readonly json?: boolean;
}

const longestTitle = 60;
const longestWords = 200;
const shortCommit = 10;
/** How much of the end of a check's output is shown; the dashboard and `--json` have more. */
const outputLines = 10;

/** `baton pr list`: one line per pull request. */
export async function listPulls(
  flags: PullFlags & { readonly all?: boolean; readonly limit: number },
  surroundings: Surroundings,
): Promise<number> {
  await using connection = await connect(flags, surroundings);
  const pulls = await connection.project.pulls({ status: flags.all ? 'all' : 'open', limit: flags.limit });
  const now = surroundings.clock.now();
  surroundings.stdout.write(flags.json ? jsonLine({ pulls }) : table(pulls, now));
  return exitCodes.ok;
}

function table(pulls: readonly Pull[], now: number): string {
  if (pulls.length === 0) return 'No change waits for a review.\n';
  const rows = pulls.map((pull) => [
    String(pull.number),
    harmlessLine(pull.issue_identifier),
    statusWords[pull.status],
    checksWords[pull.checks],
    durationText(Math.max(0, now - Date.parse(pull.standing_since))),
    cut(harmlessLine(pull.title), longestTitle),
  ]);
  return `${columns(['PR>', 'ISSUE', 'STATUS', 'CHECKS', 'AGE>', 'TITLE'], rows).join('\n')}\n`;
}

const statusWords: Readonly<Record<Pull['status'], string>> = {
  in_review: 'in review',
  approved: 'approved',
  sent_back: 'sent back',
  merged: 'merged',
  closed: 'closed',
};

const checksWords: Readonly<Record<Pull['checks'], string>> = {
  none: '-',
  waiting: 'waiting',
  green: 'green',
  red: 'red',
  incomplete: 'not all ran',
};

/** `baton pr show`: what was asked, what the agent says, checks and rounds, and what a person can do now. */
export async function showPull(reference: string, flags: PullFlags, surroundings: Surroundings): Promise<number> {
  await using connection = await connect(flags, surroundings);
  const pull = await connection.project.pull(reference);
  surroundings.stdout.write(
    flags.json ? jsonLine({ pull }) : `${describePull(pull, flags, surroundings).join('\n')}\n`,
  );
  return exitCodes.ok;
}

export function describePull(
  pull: PullDetail,
  flags: WorkplaceFlags,
  surroundings: Pick<Surroundings, 'cwd' | 'batonPath' | 'env'>,
): string[] {
  const { asked, last_message, rounds, usage } = pull;
  const cost = usage.cost_usd > 0 ? `, $${usage.cost_usd.toFixed(2)}` : '';
  return [
    `Pull request ${pull.number}: ${harmlessLine(pull.title)}`,
    `  issue     ${harmlessLine(pull.issue_identifier)}  ${harmlessLine(asked.title)}`,
    `  status    ${statusWords[pull.status]}`,
    `  branch    ${harmlessLine(pull.branch)} at ${pull.head.slice(0, shortCommit)}, into ${harmlessLine(pull.base)}`,
    ...(pull.url === null ? [] : [`  page      ${harmlessLine(pull.url)}`]),
    ...(pull.judge === null ? [] : [`  judge     ${judgeWords(pull.judge, rounds.at(-1)?.verdicts ?? [])}`]),
    ...endLines(pull),
    ...[governingText(pull.governing)].flatMap((mark) => (mark === null ? [] : [`  read      ${mark}`])),
    `  cost      ${usage.runs === 1 ? '1 run' : `${usage.runs} runs`}, ${usage.total_tokens} tokens${cost}`,
    ...quoted('Asked', asked.description),
    ...quoted('The agent says', last_message),
    ...roundLines(rounds),
    ...hostLines(pull.at_host),
    ...nextLines(pull, flags, surroundings),
  ];
}

function endLines({
  merge,
  merged,
  closed,
  approved,
  sent_back: sentBack,
  auto_merge: autoMerge,
}: PullDetail): string[] {
  if (merged !== null) return [`  merged    ${timeWords(merged.at)} by ${authorWords(merged.by)}`];
  if (closed !== null) return [`  closed    ${timeWords(closed.at)} by ${authorWords(closed.by)}`];
  return [
    ...(approved === null ? [] : [`  approved  ${timeWords(approved.at)} by ${authorWords(approved.by)}`]),
    ...(sentBack === null ? [] : [`  sent back ${timeWords(sentBack.at)} by ${authorWords(sentBack.by)}`]),
    ...(merge === null ? [] : [`  merge     ${mergeWords(merge)}`, ...missingLines(merge)]),
    ...(autoMerge === null ? [] : [`  by itself ${autoMerge.objection ?? 'Baton merges it'}`]),
  ];
}

function mergeWords({ is_possible, code, text, files }: NonNullable<PullDetail['merge']>): string {
  const where = files.length === 0 ? '' : ` (${files.map(harmlessLine).join(', ')})`;
  return text === '' ? (is_possible ? 'no conflicts' : code) : `${harmlessLine(text)}${where}`;
}

function missingLines({ code, missing_checks: missing }: NonNullable<PullDetail['merge']>): string[] {
  // No one can ignore what the host requires.
  if (missing.length === 0 || code === 'checks_missing') return [];
  const named = missing.map(({ name, result }) => `${harmlessLine(name)} (${result ?? 'waiting'})`).join(', ');
  return [`  checks    a merge waits for ${named}, or ignores them with --ignore-checks`];
}

function quoted(title: string, text: string | null): string[] {
  const lines = harmlessLines(text ?? '').trim();
  return lines === '' ? [] : ['', title, ...lines.split('\n').map((line) => `  | ${line}`.trimEnd())];
}

function hostLines(host: PullDetail['at_host']): string[] {
  if (host === null || host.checks.length + host.reviews.length === 0) return [];
  const checks = host.checks.map(({ name, result, is_required }) => {
    const required = is_required ? ' (required)' : '';
    return `  ${result ?? 'waiting'}  ${harmlessLine(name)}${required}`;
  });
  const reviews = host.reviews.map(({ author, is_trusted, verdict, body, path: file, line }) => {
    const place = file === null ? '' : ` ${harmlessLine(file)}${line === null ? '' : `:${line}`}`;
    const mayWrite = is_trusted ? '' : ', who may not write to the repository';
    const words = cut(harmlessLine(body), longestWords);
    return `  ${harmlessLine(author)}${mayWrite} (${verdict.replace('_', ' ')})${place}${words === '' ? '' : `: ${words}`}`;
  });
  return ['', 'At its host', ...checks, ...reviews];
}

function roundLines(rounds: PullDetail['rounds']): string[] {
  return [
    '',
    'Rounds',
    ...rounds.flatMap(({ round, head, at, sent_back: sentBack, checks, verdicts, said }, index) => [
      `  ${round}  ${head.slice(0, shortCommit)}  ${timeWords(at)}${sentBack === null ? '' : `  sent back by ${sentBack.kind === 'person' ? authorWords(sentBack.by) : sentBack.kind}`}`,
      ...checks.flatMap((check) => checkLines(check, index === rounds.length - 1)),
      ...verdicts.map(
        ({ verdict, agent, summary }) =>
          `     ${verdict.padEnd(9)} by the judge (${harmlessLine(agent)}): ${cut(harmlessLine(summary), longestWords)}`,
      ),
      ...said.map(
        ({ status, path, line, body }) =>
          `     ${status.padEnd(9)} ${path === null ? '' : `${harmlessLine(path)}:${line}: `}${cut(harmlessLine(body), longestWords)}`,
      ),
    ]),
  ];
}

/** What a check of the last round has to say, unless it passed, is what the next decision is about. */
function checkLines(check: PullDetail['rounds'][number]['checks'][number], isLast: boolean): string[] {
  const { name, result, output, started_at: startedAt, ended_at: endedAt } = check;
  const word = result ?? (startedAt === null ? 'waiting' : 'running');
  const took =
    startedAt === null || endedAt === null ? '' : ` (${durationText(Date.parse(endedAt) - Date.parse(startedAt))})`;
  const said = isLast && result !== 'passed' ? harmlessLines(output ?? '').trim() : '';
  const lines = said === '' ? [] : said.split('\n').slice(-outputLines);
  return [
    `     ${word.padEnd(9)} ${harmlessLine(name)}${took}`,
    ...lines.map((line) => `               | ${line}`.trimEnd()),
  ];
}

function nextLines(
  { number, status, merge, rounds }: PullDetail,
  flags: WorkplaceFlags,
  surroundings: Pick<Surroundings, 'cwd' | 'batonPath' | 'env'>,
): string[] {
  if (status === 'merged' || status === 'closed') return [];
  const here = commandsHere(flags, surroundings);
  // A command for another folder names its workflow file already.
  const { stateDir } = flags;
  const elsewhere = stateDir === undefined ? {} : { stateDir: path.resolve(surroundings.cwd, stateDir) };
  const there = merge?.folder == null ? here : commandsHere(elsewhere, surroundings);
  const merging = (merge?.commands ?? []).map((command) => (command.startsWith('baton ') ? there(command) : command));
  return [
    '',
    'Next',
    here(`  baton pr diff ${number}`),
    ...(rounds.length > 1 ? [here(`  baton pr diff ${number} --since-round ${rounds.length - 1}`)] : []),
    here(`  baton pr send-back ${number} "what has to change"`),
    // Those of the host run again there.
    ...(rounds.at(-1)?.checks.some(({ result }) => result !== null && result !== 'passed') === true
      ? [here(`  baton pr check ${number}`)]
      : []),
    ...(status === 'in_review' ? [here(`  baton pr approve ${number}`)] : []),
    // Last, because it may have to be run in another folder.
    ...merging.map((command) => `  ${command}`),
  ];
}

/** `baton pr diff`: the patch, as a program can apply it. */
export async function diffPull(
  reference: string,
  flags: PullFlags & { readonly stat?: boolean; readonly sinceRound?: number },
  surroundings: Surroundings,
): Promise<number> {
  await using connection = await connect(flags, surroundings);
  const diff = await connection.project.pullDiff(reference, flags.sinceRound ?? null);
  surroundings.stdout.write(flags.json ? jsonLine({ diff }) : diffText(diff, flags.stat === true, surroundings));
  return exitCodes.ok;
}

export function diffText(diff: Diff, isStat: boolean, { stdout }: Pick<Surroundings, 'stdout'>): string {
  if (diff.why_none !== null) return `${harmlessLine(diff.why_none)}\n`;
  const stat = diff.files.map(
    ({ path, status, added, removed }) =>
      `${status.padEnd(9)} ${harmlessLine(path)}  +${added ?? '?'} -${removed ?? '?'}`,
  );
  if (isStat) return `${stat.join('\n')}\n`;
  const patch = diff.files
    .map((file) => file.patch ?? `${file.path}: not shown, because it is binary or too large\n`)
    .join('');
  const cutNote = diff.is_cut ? 'More files have changed; they are not shown.\n' : '';
  const baseNote = diff.includes_base === true ? 'Changes of the base are shown too.\n' : '';
  return `${stdout.isTTY === true ? harmlessLines(patch) : patch}${cutNote}${baseNote}`;
}
