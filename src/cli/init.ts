import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { BatonError } from '../core/baton-error.ts';
import { parseWorkflow } from '../workflow/load-workflow.ts';
import { notInThisVersion, workflowContext } from './adapters.ts';
import { exitCodes } from './exit-codes.ts';
import { askPerson, type InitAnswers, type InitFlags } from './init/ask-person.ts';
import { workflowText } from './init/workflow-text.ts';
import type { Surroundings } from './surroundings.ts';

/** `baton init`: asks, or takes flags, and writes a workflow file that validates. An existing file is never replaced. */
export async function init(file: string, flags: InitFlags, surroundings: Surroundings): Promise<number> {
  const target = path.resolve(surroundings.cwd, file);
  if (existsSync(target)) {
    throw new BatonError('init_refused', `${target} is there already.`, {
      nextStep: 'Name another file, or move that one away.',
    });
  }
  const answers = await askPerson(flags, surroundings);
  const text = workflowText(answers);
  check(text, target, answers, surroundings);
  // Exclusive, so that a file made meanwhile is not replaced either.
  writeFileSync(target, text, { flag: 'wx' });
  const { stdout } = surroundings;
  stdout.write(
    flags.json ? `${JSON.stringify({ path: target, ...answers })}\n` : nextSteps(target, answers).join('\n'),
  );
  return exitCodes.ok;
}

/** The secret of a tracker may be exported later; with anything else wrong the file is not written. */
function check(text: string, target: string, answers: InitAnswers, surroundings: Surroundings): void {
  const context = workflowContext(surroundings);
  const env =
    answers.tracker === 'linear' ? { LINEAR_API_KEY: 'to be exported', ...surroundings.env } : surroundings.env;
  const workflow = parseWorkflow(Buffer.from(text), target, {
    ...context,
    surroundings: { ...context.surroundings, env },
  });
  const [missing] = notInThisVersion(workflow.settings);
  if (missing !== undefined)
    throw new BatonError('init_refused', `${missing.message}.`, { nextStep: 'Choose another.' });
}

function nextSteps(target: string, { tracker }: InitAnswers): string[] {
  return [
    `${target} is written. Read it, then:`,
    ...(tracker === 'linear' ? ['  export LINEAR_API_KEY=…'] : []),
    `  baton doctor '${target}'`,
    ...(tracker === 'board' ? [`  baton issue add "My first ticket" --workflow '${target}'`] : []),
    `  baton start '${target}' --dry-run`,
    '',
  ];
}
