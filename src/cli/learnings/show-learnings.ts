import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Learning, LearningList } from '../../client/schema/learning.ts';
import { BatonError } from '../../core/baton-error.ts';
import { isOffered, learningLine, originText } from '../../core/learning/learning.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import { connect } from '../../daemon/connect.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import type { WorkplaceFlags } from '../../daemon/workplace.ts';
import { exitCodes } from '../exit-codes.ts';
import { jsonLine } from '../json-line.ts';
import { commandsHere } from '../place-flags.ts';

interface LearningFlags extends WorkplaceFlags {
  readonly json?: boolean;
  readonly all?: boolean;
}

/** `baton learnings list`. */
export async function listLearnings(flags: LearningFlags, surroundings: Surroundings): Promise<number> {
  await using connection = await connect(flags, surroundings);
  const list = await connection.project.learnings();
  const shown = list.learnings.filter((each) => flags.all === true || isOffered(each));
  const left = list.learnings.length - shown.length;
  const lines = [
    ...(shown.length === 0 ? ['Agents get no learnings. To write one: baton learnings add TEXT'] : []),
    ...shown.flatMap((each) => [
      `${each.id}  ${each.status}  ${harmlessLine(each.text)}`,
      `    ${[originText(originsOf(each)), ...trialText(each, list)].join('; ')}`,
    ]),
    ...(left === 0 ? [] : [`${left} more ${left === 1 ? 'is' : 'are'} out of use; --all shows them.`]),
  ];
  const text = commandsHere(flags, surroundings)(`${lines.join('\n')}\n`);
  surroundings.stdout.write(flags.json ? jsonLine({ ...list, learnings: shown }) : text);
  return exitCodes.ok;
}

function originsOf({ origins }: Learning) {
  return origins.map(({ kind, issue, at }) => ({ kind, issue, at: Date.parse(at) }));
}

function trialText({ trial }: Learning, { trial_issues: needed }: LearningList): string[] {
  if (trial === null) return [];
  const { sent_back_with: tried, sent_back_without: others } = trial;
  const text = ({ count, of }: typeof tried): string => `${count} of ${of}`;
  return [
    `sent back: ${text(tried)} issues that got it, ${text(others)} that did not; the trial needs ${needed} of each`,
  ];
}

/** `baton learnings export`: what agents get now, as a file that people can read and keep. */
export async function exportLearnings(
  file: string | null,
  flags: LearningFlags,
  surroundings: Surroundings,
): Promise<number> {
  await using connection = await connect(flags, surroundings);
  const { learnings } = await connection.project.learnings();
  const lines = learnings
    .filter(isOffered)
    .toReversed()
    .map((each) => harmlessLine(learningLine({ ...each, origins: originsOf(each) })));
  const text = ['# Learnings', '', ...lines, ''].join('\n');
  if (file === null || file === '-') {
    surroundings.stdout.write(text);
    return exitCodes.ok;
  }
  const target = path.resolve(surroundings.cwd, file);
  try {
    await writeFile(target, text, { flag: 'wx' });
  } catch (cause) {
    const exists = (cause as NodeJS.ErrnoException).code === 'EEXIST';
    throw new BatonError('usage_error', `Failed to write ${file}${exists ? ': it exists already' : ''}.`, {
      cause,
      nextStep: 'Name another file, or `-` for stdout.',
    });
  }
  surroundings.stdout.write(`Wrote ${lines.length} learnings to ${file}.\n`);
  return exitCodes.ok;
}
