import type { PromptComparison, PromptMeasure } from '../../client/schema/prompt.ts';
import { BatonError } from '../../core/baton-error.ts';
import {
  costText,
  differenceTexts,
  middleText,
  shareText,
  shortVersion,
  timeText,
  tokensText,
} from '../../core/prompt/prompt-text.ts';
import { countText } from '../../core/text/amount-text.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import { connect } from '../../daemon/connect.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import type { WorkplaceFlags } from '../../daemon/workplace.ts';
import { columns } from '../columns.ts';
import { exitCodes } from '../exit-codes.ts';
import { jsonLine } from '../json-line.ts';

interface PromptFlags extends WorkplaceFlags {
  readonly json?: boolean;
  readonly days: number;
}

/** `baton prompts list`. */
export async function listPrompts(flags: PromptFlags, surroundings: Surroundings): Promise<number> {
  await using connection = await connect(flags, surroundings);
  const report = await connection.project.prompts(flags.days);
  const { in_use: inUse, prompts } = report;
  const unused = inUse.filter(
    ({ version, role }) => !prompts.some((each) => each.version === version && each.role === role),
  );
  const lines = [
    ...(prompts.length === 0 ? [] : tableOf(prompts)),
    ...unused.map(
      ({ version, role, source }) => `${shortVersion(version)}  ${role}  ${harmlessLine(source)}: no runs yet`,
    ),
    ...(inUse.filter(({ role }) => role === 'worker').length < 2
      ? []
      : inUse
          .filter(({ role }) => role === 'worker')
          .map(({ version, share }) => `${shortVersion(version)} goes to ${share} % of the issues`)),
    `runs since ${report.since.slice(0, 10)}; in brackets: the range that has the true value with 95 % confidence`,
  ];
  surroundings.stdout.write(flags.json ? jsonLine(report) : `${lines.join('\n')}\n`);
  return exitCodes.ok;
}

function tableOf(prompts: readonly PromptMeasure[]): string[] {
  const titles = [
    'PROMPT',
    'FROM',
    'ROLE',
    'AGENT',
    'RUNS>',
    'SUCCESS',
    'SENT BACK',
    'TOKENS OF A RUN',
    'COST OF A RUN',
    'TO MERGE',
  ];
  return columns(
    titles,
    prompts.map((each) =>
      [
        ...[shortVersion(each.version), each.source, each.role, each.agent ?? 'all', countText(each.runs)],
        ...measuresOf(each).map(([, text]) => text),
      ].map(harmlessLine),
    ),
  );
}

type Measured = keyof PromptComparison['differences'];

function measuresOf(measure: PromptMeasure): readonly (readonly [Measured, string])[] {
  return [
    ['success', shareText(measure.success)],
    ['sent_back', shareText(measure.sent_back)],
    ['tokens', middleText(measure.tokens, tokensText)],
    ['cost_usd', middleText(measure.cost_usd, costText)],
    ['to_merge_ms', middleText(measure.to_merge_ms, timeText)],
  ];
}

const names: Readonly<Record<Measured, string>> = {
  success: 'runs that succeeded',
  sent_back: 'results sent back',
  tokens: 'tokens of a run',
  cost_usd: 'cost of a run',
  to_merge_ms: 'first run to merge',
};

interface CompareFlags extends PromptFlags {
  readonly role: string;
}

/** `baton prompts compare`. */
export async function comparePrompts(
  versions: readonly string[],
  flags: CompareFlags,
  surroundings: Surroundings,
): Promise<number> {
  if (versions.length > 2)
    throw new BatonError('usage_error', 'Name at most two prompts.', { nextStep: 'See `baton prompts list`.' });
  await using connection = await connect(flags, surroundings);
  const comparison = await connection.project.comparePrompts(versions, flags);
  const { a, b, same_time: sameTime, differences } = comparison;
  const ofB = new Map(measuresOf(b));
  const lines = [
    ...columns(
      ['', 'VERSION', 'FROM', 'RUNS>', 'ISSUES>'],
      [a, b].map((each, at) =>
        [
          at === 0 ? 'A' : 'B',
          shortVersion(each.version),
          each.source,
          countText(each.runs),
          countText(each.issues),
        ].map(harmlessLine),
      ),
    ),
    '',
    ...columns(
      ['', 'A', 'B', 'DIFFERENCE'],
      measuresOf(a).map(([name, text]) => [
        names[name],
        text,
        ofB.get(name) ?? '-',
        differenceTexts[differences[name]],
      ]),
    ),
    '',
    sameTime
      ? 'Both were used at the same time.'
      : 'They were not used at the same time, so something else may have changed too.',
    'In brackets: the range that has the true value with 95 % confidence. "may be chance": two equal prompts would show such a difference in at least one of twenty comparisons.',
  ];
  surroundings.stdout.write(flags.json ? jsonLine(comparison) : `${lines.join('\n')}\n`);
  return exitCodes.ok;
}
