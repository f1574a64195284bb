import { z } from 'zod';
import { BatonError } from '../core/baton-error.ts';
import { normalizeLabels } from '../core/issue/issue.ts';
import { longestLearning } from '../core/learning/learning.ts';
import { setupName } from '../core/task/setup-proposal.ts';
import { text } from './judge-tools.ts';
import { defineTool } from './tool.ts';

const proposed = z.strictObject({
  title: text(200),
  description: z.string().trim().max(20_000).default(''),
  acceptance_criteria: z.array(text(1_000)).max(30).default([]),
  priority: z.int().min(1).max(4).nullable().default(null),
  labels: z.array(text(100)).max(10).default([]),
  duplicate_of: text(200).nullable().default(null),
});

/** The agent of an intake or of a scan proposes issues; a person decides about each. */
export const proposeIssues = defineTool({
  name: 'propose_issues',
  description:
    'Propose issues. Each has a title, a description, and acceptance criteria: what must be true when it is done. If an open ' +
    'issue asks for the same, give its identifier in `duplicate_of`. Call this once, with all issues, and end your turn. ' +
    'If you have nothing to propose, give an empty list.',
  changesTracker: false,
  input: z.strictObject({ issues: z.array(proposed).max(200) }),
  run: async ({ issues }, { onProposeIssues }) => {
    const said = issues.map(({ acceptance_criteria: criteria, duplicate_of: duplicateOf, labels, ...issue }) => ({
      ...issue,
      criteria,
      duplicateOf,
      labels: normalizeLabels(labels),
    }));
    const answer = (await onProposeIssues?.(said)) ?? { kept: 0, duplicates: 0 };
    if ('most' in answer)
      throw new BatonError(
        'invalid_tool_arguments',
        `These are ${issues.length} issues, and at most ${answer.most} are allowed. Combine or leave out some.`,
        { details: { most: answer.most } },
      );
    return `Kept ${answer.kept} proposals; ${answer.duplicates} of them are like an open issue. End your turn now.`;
  },
});

const proposedLearning = z.strictObject({
  text: text(longestLearning),
  from: z.array(z.int().min(1)).min(1).max(60),
  replaces: z.array(text(20)).max(20).default([]),
});

/** A learner proposes what later agents should know; a person decides about each. */
export const proposeLearnings = defineTool({
  name: 'propose_learnings',
  description:
    'Propose what later agents in this project should know. Each is one or two sentences, with the numbers of the lines that it ' +
    'comes from, and the ids of learnings that it replaces. Call this once, with all of them, and end your turn. If you have ' +
    'nothing to propose, give an empty list.',
  changesTracker: false,
  input: z.strictObject({ learnings: z.array(proposedLearning).max(100) }),
  run: async ({ learnings }, { onProposeLearnings }) => {
    const answer = (await onProposeLearnings?.(learnings)) ?? { kept: 0 };
    if ('most' in answer)
      throw new BatonError(
        'invalid_tool_arguments',
        `These are ${learnings.length} learnings, and at most ${answer.most} are allowed. Combine or leave out some.`,
        { details: { most: answer.most } },
      );
    if ('unknown' in answer)
      throw new BatonError(
        'invalid_tool_arguments',
        `There are no lines or learnings with these names: ${answer.unknown.join(', ')}.`,
        { details: { unknown: answer.unknown } },
      );
    return `Noted: ${answer.kept} proposed. End your turn now.`;
  },
});

const command = text(4_000);

/** Commands of a build take minutes. The run has its own time limit, and each command too. */
const proofLimitMs = 3_600_000;

/** The agent of a setup proposes commands. Baton runs each of them before it believes it. */
export const proposeSetup = defineTool({
  name: 'propose_setup',
  description:
    'Propose the commands that prepare and check this repository. Baton runs `setup`, then each of `checks`, in a clean ' +
    'checkout, waits for them, and answers how each ended. If nothing has to be prepared, `setup` is null. If a command does ' +
    'not pass, Baton keeps nothing: correct the command or leave it out, and call this again. If all pass, end your turn.',
  changesTracker: false,
  timeLimitMs: proofLimitMs,
  input: z
    .strictObject({
      setup: command.nullable().default(null),
      checks: z
        .array(z.strictObject({ name: text(100).regex(/^[^\n\r]*$/), run: command }))
        .max(20)
        .default([]),
      notes: z.string().trim().max(8_000).default(''),
    })
    .refine(
      ({ checks }) => new Set(checks.map(({ name }) => name)).size === checks.length,
      'two checks have the same name',
    )
    .refine(({ checks }) => checks.every(({ name }) => name !== setupName), `a check cannot have the name ${setupName}`)
    .refine(
      ({ setup, checks, notes }) => setup !== null || checks.length > 0 || notes !== '',
      'there is nothing in the proposal',
    ),
  run: async (said, { onProposeSetup }, { signal }) => {
    const answer = await onProposeSetup?.(said, signal);
    if (answer === undefined) throw new BatonError('internal_error', 'This run has no setup.');
    if (answer.kind === 'noted') return `Noted: ${answer.commands} commands passed. End your turn now.`;
    const failed = answer.commands.filter(({ proof }) => proof.result !== 'passed').map(({ name }) => name);
    throw new BatonError('setup_not_proven', `Nothing was noted, because these did not pass: ${failed.join(', ')}.`, {
      details: {
        tries_left: answer.triesLeft,
        commands: answer.commands.map(({ name, run, proof: { result, exitCode, durationMs, output } }) => ({
          name,
          run,
          result,
          exit_code: exitCode,
          duration_ms: durationMs,
          output,
        })),
      },
    });
  },
});
