import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Command } from 'commander';
import type { AdapterInit, InitQuestion } from '../core/adapter-init.ts';
import { BatonError } from '../core/baton-error.ts';
import type { Settings } from '../core/settings.ts';
import { harmlessLine } from '../core/text/harmless-line.ts';
import { shellArgument } from '../core/text/shell-argument.ts';
import { adaptersIn, workflowContext } from '../daemon/adapters.ts';
import { canIsolate } from '../daemon/run-containment.ts';
import { stateFolder } from '../daemon/state-folder.ts';
import type { Surroundings } from '../daemon/surroundings.ts';
import type { TrackerAdapter } from '../tracker/adapter.ts';
import { parseWorkflow } from '../workflow/load-workflow.ts';
import { exitCodes } from './exit-codes.ts';
import { askPerson, type Chosen, type InitFlags } from './init/ask-person.ts';
import { planReview, reviewLines, reviewReport } from './init/planned-review.ts';
import { planWorkspaces, workspaceLines, workspacesReport } from './init/planned-workspaces.ts';
import { workflowText } from './init/workflow-text.ts';
import { jsonLine } from './json-line.ts';
import { jsonOption } from './option-parsers.ts';
import { commandsHere } from './place-flags.ts';

/**
 * The command `init` with the options of all adapters. It is created when it is called, so that other commands do not
 * load the adapters.
 */
export function initCommand(surroundings: Surroundings, finish: (exitCode: number) => void): Command {
  const { trackers, backends } = adaptersIn(surroundings);
  const command = new Command('baton init')
    .description('write a workflow file; asks what the options do not say')
    .argument('[workflow]', 'the file to write', 'WORKFLOW.md')
    .option('--tracker <kind>', trackers.map(({ kind }) => kind).join(' or '))
    .option('--agent <backend>', backends.map(({ name }) => name).join(' or '));
  for (const { name, value, help } of questionsIn(surroundings))
    command.option(`--${name.replaceAll('_', '-')} <${value}>`, help);
  return command
    .option('--label <name>', 'work only on issues with this label; - for all issues')
    .option('--repo <address>', 'the git repository that agents work on, a path or a URL; - for none')
    .option('--judge', 'let an agent judge each change before you do; each verdict costs a run')
    .option('--no-judge', 'use no judge, and do not ask about it')
    .option(
      '--setup',
      'print `baton setup` as the last of the next steps: an agent then finds out how to build and test; costs one run',
    )
    .option('--no-setup', 'do not print `baton setup`, and do not ask about it')
    .option('--pipeline', 'prepare every issue in phases before its worker starts; costs several runs for each issue')
    .option('--yes', 'ask nothing and take the defaults')
    .addOption(jsonOption())
    .action(async (file: string, flags: InitFlags) => finish(await init(file, flags, surroundings)));
}

/** Two adapters may ask the same question with the same option. */
function questionsIn(surroundings: Surroundings): readonly InitQuestion[] {
  const { trackers, backends } = adaptersIn(surroundings);
  const inits: readonly { readonly init: AdapterInit }[] = [...trackers, ...backends];
  return [...new Map(inits.flatMap(({ init }) => init.questions).map((each) => [each.name, each])).values()];
}

/** `baton init`: asks, or takes flags, and writes a workflow file that validates. Never replaces an existing file. */
async function init(file: string, flags: InitFlags, surroundings: Surroundings): Promise<number> {
  const target = path.resolve(surroundings.cwd, file);
  if (existsSync(target)) throw alreadyExists(target);
  const chosen = await fitToMachine(await askPerson(flags, target, surroundings), surroundings);
  const { tracker, agent, answers, label, repo, judge } = chosen;
  const root = agent.init.writesTemporaryFiles ? workspaceRoot(target, surroundings) : null;
  const text = workflowText(chosen, surroundings.timeZone, root);
  const settings = check(text, target, chosen, surroundings);
  write(target, text);
  const workspaces = await planWorkspaces(settings, target, surroundings);
  const review = planReview(chosen);
  const answered = questionsIn(surroundings).map(({ name }) => [name, answers[name] ?? null]);
  const report = {
    path: target,
    tracker: tracker.kind,
    agent: agent.name,
    ...Object.fromEntries(answered),
    label,
    repo,
    judge,
    review: reviewReport(review),
    setup: chosen.wantsSetup,
    pipeline: chosen.hasPipeline,
    workspaces: workspacesReport(workspaces),
  };
  const lines = [
    ...nextSteps(target, chosen),
    ...workspaceLines(workspaces, agent.commitsWork),
    ...reviewLines(review, tracker),
    ...(agent.init.notes ?? []),
    '',
  ];
  surroundings.stdout.write(flags.json ? jsonLine(report) : commandsHere({}, surroundings)(lines.join('\n')));
  return exitCodes.ok;
}

/** The file for an agent that relies on isolation is another one where the machine has none. */
async function fitToMachine(chosen: Chosen, surroundings: Surroundings): Promise<Chosen> {
  const { agent } = chosen;
  const { withoutIsolation } = agent.init;
  if (withoutIsolation === undefined || (await canIsolate(surroundings))) return chosen;
  return { ...chosen, agent: { ...agent, init: { ...agent.init, ...withoutIsolation } } };
}

/** One root per workflow file, as by default. Written with `~`, so that the file fits other users too. */
function workspaceRoot(target: string, surroundings: Surroundings): string {
  return `~/baton/workspaces/${path.basename(stateFolder(target, undefined, surroundings))}`;
}

/** Opens the file exclusively, so that a file created in the meantime is not replaced either. */
function write(target: string, text: string): void {
  try {
    writeFileSync(target, text, { flag: 'wx' });
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'EEXIST') throw alreadyExists(target);
    throw new BatonError('init_refused', `${target} cannot be written.`, {
      cause,
      nextStep: 'Check that the folder exists and that you may write to it.',
      details: { path: target, problem: 'not_writable' },
    });
  }
}

function alreadyExists(target: string): BatonError {
  return new BatonError('init_refused', `${target} already exists.`, {
    nextStep: 'Name another file, or move the existing file away.',
    details: { path: target, problem: 'exists' },
  });
}

/** The user may export the secret of a tracker later. Any other problem throws, so that no bad file is written. */
function check(text: string, target: string, { tracker }: Chosen, surroundings: Surroundings): Settings {
  const assumed = Object.fromEntries(secretVariables(tracker).map((name) => [name, 'to be exported']));
  const context = workflowContext({ ...surroundings, env: { ...assumed, ...surroundings.env } }, undefined);
  return parseWorkflow(Buffer.from(text), target, context).settings;
}

function nextSteps(target: string, { tracker, agent, hasPipeline, wantsSetup }: Chosen): string[] {
  const file = shellArgument(target);
  const first = [...secretVariables(tracker).map((name) => `export ${name}=…`), ...(agent.init.firstSteps ?? [])];
  const pages = [
    tracker.docs,
    agent.docs,
    ...(hasPipeline ? ['docs/pipeline.md'] : []),
    ...(wantsSetup ? ['docs/setup.md'] : []),
  ];
  return [
    `Wrote ${harmlessLine(target)}. Read it (${pages.slice(0, -1).join(', ')} and ${pages.at(-1)} in the folder of Baton explain it). Then run:`,
    ...first.map((line) => `  ${line}`),
    `  baton doctor ${file}`,
    ...(tracker.openBoard === undefined ? [] : [`  baton issue add "My first issue" --workflow ${file}`]),
    `  baton start ${file} --dry-run`,
    ...(wantsSetup ? ['Then start Baton, and let an agent find out how to build and test (one run):'] : []),
    ...(wantsSetup ? [`  baton start ${file}`, `  baton setup --wait --workflow ${file}`] : []),
  ];
}

function secretVariables({ keys }: TrackerAdapter): readonly string[] {
  return keys.flatMap(({ secret, fallbackEnv }) => (secret === true ? (fallbackEnv ?? []) : []));
}
