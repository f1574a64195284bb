import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { codexKeyLoginCommand } from '../agent/codex/key-login-command.ts';
import { BatonError } from '../core/baton-error.ts';
import type { Settings } from '../core/settings.ts';
import { harmlessLine } from '../core/text/harmless-line.ts';
import { workflowContext } from '../daemon/adapters.ts';
import { shellWord } from '../daemon/shell-word.ts';
import { stateFolder } from '../daemon/state-folder.ts';
import type { Surroundings } from '../daemon/surroundings.ts';
import { parseWorkflow } from '../workflow/load-workflow.ts';
import { exitCodes } from './exit-codes.ts';
import { askPerson, type InitAnswers, type InitFlags } from './init/ask-person.ts';
import { whatWorkspacesAre, workspaceLines, workspacesReport } from './init/what-workspaces-are.ts';
import { workflowText } from './init/workflow-text.ts';
import { jsonLine } from './json-line.ts';

/** `baton init`: asks, or takes flags, and writes a workflow file that validates. An existing file is never replaced. */
export async function init(file: string, flags: InitFlags, surroundings: Surroundings): Promise<number> {
  const target = path.resolve(surroundings.cwd, file);
  if (existsSync(target)) throw isThere(target);
  const answers = await askPerson(flags, target, surroundings);
  const root = answers.agent === 'codex' ? workspaceRoot(target, surroundings) : null;
  const text = workflowText(answers, surroundings.timeZone, root);
  const settings = check(text, target, answers, surroundings);
  write(target, text);
  const { projectSlug, ...rest } = answers;
  const workspaces = await whatWorkspacesAre(settings, target, surroundings);
  const report = { path: target, ...rest, project_slug: projectSlug, workspaces: workspacesReport(workspaces) };
  const told = [
    ...nextSteps(target, answers),
    ...workspaceLines(workspaces, answers.agent),
    ...(answers.agent === 'codex' ? whatCodexMay : []),
    '',
  ];
  surroundings.stdout.write(flags.json ? jsonLine(report) : told.join('\n'));
  return exitCodes.ok;
}

/** One root a workflow file, as the default has it. By the sign for the home, so that the file fits another user too. */
function workspaceRoot(target: string, surroundings: Surroundings): string {
  return `~/baton/workspaces/${path.basename(stateFolder(target, undefined, surroundings))}`;
}

/** Of the defaults that the file leaves as they are. */
const whatCodexMay = [
  'Codex may write in its workspace and where temporary files are, without network, and asks for no permission:',
  '  what its sandbox forbids fails. To be asked instead (`baton ask list`), set codex.approval_policy: on-request.',
];

/** Exclusive, so that a file made meanwhile is not replaced either. */
function write(target: string, text: string): void {
  try {
    writeFileSync(target, text, { flag: 'wx' });
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'EEXIST') throw isThere(target);
    throw new BatonError('init_refused', `${target} cannot be written.`, {
      cause,
      nextStep: 'Check that its folder is there and that you may write in it.',
      details: { path: target, problem: 'not_writable' },
    });
  }
}

function isThere(target: string): BatonError {
  return new BatonError('init_refused', `${target} is there already.`, {
    nextStep: 'Name another file, or move that one away.',
    details: { path: target, problem: 'exists' },
  });
}

/** The secret of a tracker may be exported later; with anything else wrong the file is not written. */
function check(text: string, target: string, answers: InitAnswers, surroundings: Surroundings): Settings {
  const context = workflowContext(surroundings);
  const env =
    answers.tracker === 'linear' ? { LINEAR_API_KEY: 'to be exported', ...surroundings.env } : surroundings.env;
  const told = { ...context, surroundings: { ...context.surroundings, env } };
  return parseWorkflow(Buffer.from(text), target, told).settings;
}

function nextSteps(target: string, { tracker, agent }: InitAnswers): string[] {
  const file = shellWord(target);
  return [
    `${harmlessLine(target)} is written. Read it, then:`,
    ...(tracker === 'linear' ? ['  export LINEAR_API_KEY=…'] : []),
    ...(agent === 'codex' ? [`  codex login     # with a key: ${codexKeyLoginCommand(null)}`] : []),
    `  baton doctor ${file}`,
    ...(tracker === 'board' ? [`  baton issue add "My first ticket" --workflow ${file}`] : []),
    `  baton start ${file} --dry-run`,
  ];
}
