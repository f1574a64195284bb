import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { systemClock } from '../../clock/system-clock.ts';
import { harmlessLines } from '../../core/text/harmless-line.ts';
import { runToEnd } from '../../process/run-to-end.ts';
import { readOnlyVariable } from '../launch-agent.ts';
import type { FromProgram } from './protocol.ts';
import type { Step } from './script.ts';

/** The surroundings in which the steps of a script run. */
export interface StepContext {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly isFirstRun: boolean;
  readonly say: (message: FromProgram) => void;
  readonly callTool: (name: string, input: unknown) => Promise<{ success: boolean; output: string }>;
  readonly sleep: (ms: number) => Promise<void>;
  /** Waits, then returns the messages of people that were not returned before. */
  readonly listen: (ms: number) => Promise<readonly string[]>;
}

/** Programs in a script end by themselves; this limit is for one that does not. */
const programTimeoutMs = 120_000;

/**
 * The steps that act on the workspace and the tracker. `program.ts` performs the others, which are about the
 * conversation.
 */
type WorkStep = Exclude<Step, { verb: 'ask' | 'quote' | 'quota' | 'context' | 'auth' | 'idle' | 'judge' }>;

type StepOf<Verb extends Step['verb']> = Extract<Step, { verb: Verb }>;

/** In a read-only session it does none of these. `run` stays: a script can act out an agent that breaks the rule. */
const changing: readonly Step['verb'][] = ['write', 'append', 'commit', 'push'];

/** Does one step of a script; throws when it cannot be done. */
export async function performStep(step: WorkStep, context: StepContext): Promise<void> {
  if (context.env[readOnlyVariable] !== undefined && changing.includes(step.verb))
    throw new Error(`${step.verb}: this session only reads its workspace`);
  switch (step.verb) {
    case 'say':
      context.say({ type: 'message', text: step.text });
      break;
    case 'move':
      await useTool(context, 'update_issue_status', { status: step.text });
      break;
    case 'comment':
      await useTool(context, 'comment', { body: step.text });
      break;
    case 'complete': {
      const [summary = '', skipTo = null] = step.text.split(' > ');
      await useTool(context, 'complete_phase', { summary, skip_to: skipTo });
      break;
    }
    case 'issues': {
      const issues = step.lines.map((line) => {
        const [named = '', labels = ''] = line.split(' # ');
        const [title = '', duplicate = null] = named.split(' = ');
        const words = labels.match(/\S+/g) ?? [];
        return { title, description: 'From the text.', duplicate_of: duplicate, labels: words };
      });
      await useTool(context, 'propose_issues', { issues });
      break;
    }
    case 'learnings': {
      const learnings = step.lines.map((line) => {
        const [text = '', from = ''] = line.split(' < ');
        const [numbers = '', replaced = ''] = from.split(' = ');
        return { text, from: (numbers.match(/\d+/g) ?? []).map(Number), replaces: replaced.match(/\S+/g) ?? [] };
      });
      await useTool(context, 'propose_learnings', { learnings });
      break;
    }
    case 'plan': {
      const subtasks = step.lines.map((line) => {
        const [title = '', blockers = ''] = line.split(' < ');
        return { title, description: title, blocked_by: (blockers.match(/\d+/g) ?? []).map(Number) };
      });
      await useTool(context, 'create_subtasks', { summary: step.text, subtasks });
      break;
    }
    case 'propose':
      await useTool(context, 'create_pr', { title: step.title, body: step.body });
      break;
    case 'write':
    case 'append':
      writeStep(step, context);
      break;
    case 'run':
      await runProgram(context, step.text.split(' '));
      break;
    case 'commit':
      await commitAll(context, step.text);
      break;
    case 'push':
      await runProgram(context, ['git', 'push', '--quiet', '--force', 'origin', 'HEAD']);
      break;
    case 'wait':
      await context.sleep(step.amount);
      break;
    case 'listen':
      await listenStep(step, context);
      break;
    case 'spend':
      context.say({ type: 'usage', input_tokens: step.amount, output_tokens: Math.round(step.amount / 10) });
      break;
    case 'fail':
      throw new Error(step.text);
  }
}

function writeStep(step: StepOf<'write' | 'append'>, context: StepContext): void {
  const file = path.resolve(context.cwd, step.file);
  if (!file.startsWith(`${context.cwd}${path.sep}`)) throw new Error(`${step.file} is outside the workspace`);
  mkdirSync(path.dirname(file), { recursive: true });
  if (step.verb === 'write') writeFileSync(file, step.content);
  else appendFileSync(file, step.content);
  context.say({ type: 'message', text: `${step.verb === 'write' ? 'wrote' : 'appended to'} ${step.file}` });
}

async function listenStep({ amount, file, firstRunOnly }: StepOf<'listen'>, context: StepContext): Promise<void> {
  const words = await context.listen(amount);
  if (file === null || words.length === 0) return;
  const content = words.map((each) => `\n${harmlessLines(each)}\n`).join('');
  writeStep({ verb: 'append', file, content, firstRunOnly }, context);
}

/** A run that is retried after a failure may find its work committed already. */
async function commitAll(context: StepContext, message: string): Promise<void> {
  await runProgram(context, ['git', 'add', '--all']);
  const { stdout } = await runProgram(context, ['git', 'status', '--porcelain']);
  if (stdout.trim() === '') context.say({ type: 'message', text: 'nothing to commit' });
  else await runProgram(context, ['git', 'commit', '--quiet', '--message', message]);
}

async function useTool(context: StepContext, name: string, input: unknown): Promise<void> {
  const answer = await context.callTool(name, input);
  if (!answer.success) throw new Error(`${name} was refused: ${answer.output}`);
}

async function runProgram(
  context: StepContext,
  [command = '', ...args]: readonly string[],
): Promise<{ stdout: string }> {
  const env = Object.fromEntries(
    Object.entries(context.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  const result = await runToEnd(
    { command, args, cwd: context.cwd, env, runId: env.BATON_RUN_ID ?? '', timeoutMs: programTimeoutMs },
    // Like a real agent's tools, its programs are in its own process tree; Baton's containment covers all of it.
    { clock: systemClock, containment: 'group_only', daemonId: env.BATON_DAEMON_ID ?? '' },
  );
  const shown = [command, ...args].join(' ');
  if (result.timedOut) throw new Error(`${shown} did not end within ${programTimeoutMs / 1_000} seconds`);
  if (result.code !== 0) throw new Error(`${shown} failed: ${(result.stderr || result.stdout).trim().slice(-500)}`);
  context.say({ type: 'message', text: `ran ${shown}` });
  return result;
}
