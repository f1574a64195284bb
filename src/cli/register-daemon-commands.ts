import { existsSync } from 'node:fs';
import path from 'node:path';
import { Argument, type Command, Option } from 'commander';
import { BatonError } from '../core/baton-error.ts';
import type { Surroundings } from '../daemon/surroundings.ts';
import type { WorkplaceFlags } from '../daemon/workplace.ts';
import { nearestKey } from '../workflow/table/nearest-key.ts';
import type { CommandParts } from './command-parts.ts';
import type { ExplainFlags } from './explain.ts';
import { count, folder, jsonOption, names, port } from './option-parsers.ts';
import type { StartFlags } from './start.ts';

/** Adds `start`, `status`, `top`, `explain`, `demo` and `doctor`. */
export function registerDaemonCommands(
  program: Command,
  { surroundings, finish, run, addProjectCommand }: CommandParts,
): void {
  program
    .command('start', { isDefault: true })
    .description('take issues and run agents until you stop it')
    .addArgument(workflowsArgument())
    .option('--dry-run', 'start nothing; print what would start, and why the rest would not')
    .option('--only <ids>', 'trial: work only on these issues of all projects, such as BAT-1,BAT-2', names)
    .option('--max-runs <number>', 'trial: start at most this many runs in each project', count)
    .option(
      '--max-agents <number>',
      'run at most this many agents at once in all projects together (default: the largest agent.max_concurrent_agents)',
      count,
    )
    .option('--port <number>', 'port of the API and the dashboard; 0 for any free port', port)
    .option('--no-view', 'show the log on the terminal instead of the live view')
    .option('--logs-root <dir>', 'folder for log/baton.log (default: the state folder of the first file)', folder)
    .option('--state-dir <dir>', 'the state folder: store, log and caches; only with one workflow file', folder)
    // Symphony's reference requires it; here the workflow file is the consent.
    .addOption(new Option(`--${symphonyFlag}`).hideHelp())
    .addOption(jsonOption())
    .action(async (workflows: [string, ...string[]], options: StartFlags) => {
      const commands = program.commands.map((each) => each.name());
      refuseMistypedCommand(program, workflows, commands, surroundings);
      const { start } = await import('./start.ts');
      const started = start(workflows, options, surroundings);
      finish(await started.catch((error) => throwWithCommand(error, workflows[0], commands)));
    });

  addProjectCommand(program, 'status', 'show what the daemon of a workflow file is doing').action(
    async (options: WorkplaceFlags & { json?: boolean }) => {
      const { status } = await import('./status.ts');
      finish(await status(options, surroundings));
    },
  );

  addProjectCommand(program, 'top', 'show what the daemon of a workflow file is doing, live on the full screen').action(
    run(() => import('./top/top.ts'), 'top'),
  );

  addProjectCommand(
    program,
    'explain <issue>',
    'show why an issue starts or not, condition by condition, and what happens next',
  ).action(async (issue: string, options: ExplainFlags) => {
    const { explain } = await import('./explain.ts');
    finish(await explain(issue, options, surroundings));
  });

  program
    .command('demo')
    .description('watch ten issues go through a scratch repository, with a scripted agent')
    .addOption(jsonOption())
    .option('--once', 'stop when all issues are finished')
    .option('--fresh', 'start a new demo, and keep the previous one under another name')
    .option('--dir <dir>', 'folder of the demo (default: one in the state folder)', folder)
    .action(run(() => import('../../demo/demo.ts'), 'demo'));

  program
    .command('doctor')
    .description('check this machine, and say how to fix each problem')
    .addOption(jsonOption())
    .argument('[workflow]', 'also check what this workflow file needs (default: WORKFLOW.md, where there is one)')
    .action(async (workflow: string | undefined, options: { json?: boolean }) => {
      const { doctor } = await import('./doctor.ts');
      const here = existsSync(path.resolve(surroundings.cwd, 'WORKFLOW.md')) ? 'WORKFLOW.md' : null;
      finish(await doctor(workflow ?? here, options, surroundings));
    });
}

const symphonyFlag = 'i-understand-that-this-will-be-running-without-the-usual-guardrails';

function workflowsArgument(): Argument {
  const words = 'the workflow file; several files run as several projects in one process';
  return new Argument('[workflows...]', words).default(['WORKFLOW.md'], 'WORKFLOW.md');
}

/**
 * `baton docter WORKFLOW.md` must not start agents: among several words, one that is not a file and does not look like
 * one is a typing mistake, not a project that will appear later.
 */
function refuseMistypedCommand(
  program: Command,
  workflows: readonly string[],
  commands: readonly string[],
  { cwd }: Surroundings,
): void {
  if (workflows.length === 1) return;
  const strange = workflows.find((word) => !/[./\\]/.test(word) && !existsSync(path.resolve(cwd, word)));
  if (strange === undefined) return;
  const meant = nearestKey(strange, commands);
  program.error(
    `error: '${strange}' is neither a command nor a workflow file${meant === null ? '' : ` (did you mean ${meant}?)`}`,
  );
}

/** `baton validat` is parsed as a file to start; the error then suggests the command. */
function throwWithCommand(error: unknown, workflow: string, commands: readonly string[]): never {
  const command = nearestKey(workflow, commands);
  if (command === null || !(error instanceof BatonError) || error.code !== 'missing_workflow_file') throw error;
  const nextStep = `If you meant the command: \`baton ${command}\`. Otherwise: ${error.nextStep}`;
  throw new BatonError(error, error.message, { cause: error.cause, details: error.details, nextStep });
}
