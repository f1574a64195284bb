import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { systemClock } from '../../clock/system-clock.ts';
import { harmlessLines } from '../../core/text/harmless-line.ts';
import { runToEnd } from '../../process/run-to-end.ts';
import type { FromProgram } from './protocol.ts';
import type { Step } from './script.ts';

/** What the steps of a script act on. */
export interface Stage {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly isFirstRun: boolean;
  readonly say: (message: FromProgram) => void;
  readonly callTool: (name: string, input: unknown) => Promise<{ success: boolean; output: string }>;
  readonly sleep: (ms: number) => Promise<void>;
  /** What people say while it listens, and what they said earlier that was not heard yet. */
  readonly listen: (ms: number) => Promise<readonly string[]>;
}

/** A program of a rehearsal ends on its own; this limit only catches one that does not. */
const programTimeoutMs = 120_000;

/**
 * The steps that act on the workspace and the tracker; `program.ts` plays the others, which are about the conversation.
 */
type Deed = Exclude<Step, { verb: 'ask' | 'quota' | 'context' | 'auth' | 'idle' }>;

type StepOf<Verb extends Step['verb']> = Extract<Step, { verb: Verb }>;

/** Does one step of a script; throws when it cannot be done. */
export async function performStep(step: Deed, stage: Stage): Promise<void> {
  switch (step.verb) {
    case 'say':
      stage.say({ type: 'message', text: step.text });
      break;
    case 'move':
      await useTool(stage, 'update_issue_status', { status: step.text });
      break;
    case 'comment':
      await useTool(stage, 'comment', { body: step.text });
      break;
    case 'write':
    case 'append':
      writeStep(step, stage);
      break;
    case 'run':
      await runProgram(stage, step.text.split(' '));
      break;
    case 'commit':
      await commitAll(stage, step.text);
      break;
    case 'push':
      await runProgram(stage, ['git', 'push', '--quiet', '--force', 'origin', 'HEAD']);
      break;
    case 'wait':
      await stage.sleep(step.amount);
      break;
    case 'listen':
      await listenStep(step, stage);
      break;
    case 'spend':
      stage.say({ type: 'usage', input_tokens: step.amount, output_tokens: Math.round(step.amount / 10) });
      break;
    case 'fail':
      throw new Error(step.text);
  }
}

function writeStep(step: StepOf<'write' | 'append'>, stage: Stage): void {
  const file = path.resolve(stage.cwd, step.file);
  if (!file.startsWith(`${stage.cwd}${path.sep}`)) throw new Error(`${step.file} is outside the workspace`);
  mkdirSync(path.dirname(file), { recursive: true });
  if (step.verb === 'write') writeFileSync(file, step.content);
  else appendFileSync(file, step.content);
  stage.say({ type: 'message', text: `${step.verb === 'write' ? 'wrote' : 'appended to'} ${step.file}` });
}

async function listenStep({ amount, file, firstRunOnly }: StepOf<'listen'>, stage: Stage): Promise<void> {
  const words = await stage.listen(amount);
  if (file === null || words.length === 0) return;
  const content = words.map((each) => `\n${harmlessLines(each)}\n`).join('');
  writeStep({ verb: 'append', file, content, firstRunOnly }, stage);
}

/** A run that is retried after a failure may find its work committed already. */
async function commitAll(stage: Stage, message: string): Promise<void> {
  await runProgram(stage, ['git', 'add', '--all']);
  const { stdout } = await runProgram(stage, ['git', 'status', '--porcelain']);
  if (stdout.trim() === '') stage.say({ type: 'message', text: 'nothing left to commit' });
  else await runProgram(stage, ['git', 'commit', '--quiet', '--message', message]);
}

async function useTool(stage: Stage, name: string, input: unknown): Promise<void> {
  const answer = await stage.callTool(name, input);
  if (!answer.success) throw new Error(`${name} was refused: ${answer.output}`);
}

async function runProgram(stage: Stage, [command = '', ...args]: readonly string[]): Promise<{ stdout: string }> {
  const env = Object.fromEntries(
    Object.entries(stage.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  const result = await runToEnd(
    { command, args, cwd: stage.cwd, env, runId: env.BATON_RUN_ID ?? '', timeoutMs: programTimeoutMs },
    // Like a real agent's tools, its programs are in its own process tree; Baton's containment covers all of it.
    { clock: systemClock, containment: 'group_only', daemonId: env.BATON_DAEMON_ID ?? '' },
  );
  const shown = [command, ...args].join(' ');
  if (result.timedOut) throw new Error(`${shown} did not end`);
  if (result.code !== 0) throw new Error(`${shown} failed: ${(result.stderr || result.stdout).trim().slice(-500)}`);
  stage.say({ type: 'message', text: `ran ${shown}` });
  return result;
}
