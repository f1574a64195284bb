import { Command, CommanderError } from 'commander';
import { BatonError, toBatonError } from '../core/baton-error.ts';
import type { Surroundings } from '../daemon/surroundings.ts';
import type { WorkplaceFlags } from '../daemon/workplace.ts';
import { registerAskCommands } from './ask/register.ts';
import type { CommandParts } from './command-parts.ts';
import { registerControlCommands, registerIssueControlCommands } from './control/register.ts';
import { exitCodes } from './exit-codes.ts';
import { registerIntakeCommands, registerScanCommands } from './intake/register.ts';
import type { BoardAccess } from './issue/board-context.ts';
import { registerIssueCommands } from './issue/register.ts';
import { registerJobCommands } from './jobs/register.ts';
import { registerLearningCommands } from './learnings/register.ts';
import { folder, jsonOption } from './option-parsers.ts';
import { registerPipelineCommands } from './pipeline/register.ts';
import { batonName } from './place-flags.ts';
import { registerPullCommands } from './pr/register.ts';
import { registerPromptCommands } from './prompts/register.ts';
import { registerDaemonCommands } from './register-daemon-commands.ts';
import { registerWorkflowCommands } from './register-workflow-commands.ts';
import { reportError } from './report-error.ts';
import { registerRequestCommands } from './requests/register.ts';
import { registerRunCommands } from './runs/register.ts';
import { registerSalvageCommands } from './salvage/register.ts';
import { registerSetupCommands } from './setup/register.ts';
import { registerStoreCommands } from './store/register.ts';
import { registerTokenCommands } from './token/register.ts';
import { registerWorkspaceCommands } from './workspace/register.ts';

/** Runs one command and returns its exit code: 0 normal, 1 error, 2 usage. Never throws. */
export async function runCommandLine(argv: readonly string[], surroundings: Surroundings): Promise<number> {
  const json = argv.includes('--json');
  let exitCode: number = exitCodes.ok;
  let place: WorkplaceFlags = {};
  const program = commandLine(surroundings, json, (code) => {
    exitCode = code;
  });
  program.hook('preAction', (_, command) => {
    place = placeOf(command);
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (thrown) {
    // Commander has already printed help, version or, for people, what is wrong with the arguments.
    if (thrown instanceof CommanderError && thrown.exitCode === 0) return exitCodes.ok;
    if (thrown instanceof CommanderError) {
      const message = thrown.message.replace(/^error: /, '');
      if (json) reportError(new BatonError('usage_error', message), { json, surroundings });
      return exitCodes.usage;
    }
    const error = toBatonError(thrown);
    // A file that does not exist is no place for other commands.
    reportError(error, { json, surroundings, place: error.code === 'missing_workflow_file' ? {} : place });
    return exitCodes.error;
  }
}

/** The flags with which other commands find the project of this one; some commands take the file as an argument. */
function placeOf(command: Command): WorkplaceFlags {
  const { workflow, stateDir } = command.opts<WorkplaceFlags>();
  const [first] = ['start', 'validate', 'doctor'].includes(command.name()) ? command.args : [];
  const file = workflow ?? first;
  return { ...(file === undefined ? {} : { workflow: file }), ...(stateDir === undefined ? {} : { stateDir }) };
}

/** Commands are loaded when they are called, so that `--version` does not load the daemon. */
function commandLine(surroundings: Surroundings, json: boolean, finish: (exitCode: number) => void): Command {
  const program = new Command('baton')
    .description('One issue, one live coding agent. Without a command: start.')
    .version(surroundings.version)
    // After a command, `--version` is an option of that command.
    .enablePositionalOptions()
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => surroundings.stdout.write(text),
      writeErr: (text) => void (json || surroundings.stderr.write(text)),
    });
  const run: CommandParts['run'] =
    (load, name) =>
    async (...given) => {
      // Commander passes the arguments and options of the command, and then the command itself.
      const command = (await load())[name] as (...given: unknown[]) => number | Promise<number>;
      finish(await command(...given.slice(0, -1), surroundings));
    };
  const parts: CommandParts = { surroundings, finish, run, addProjectCommand };
  registerDaemonCommands(program, parts);
  registerWorkflowCommands(program, parts);
  const connect: BoardAccess['connect'] = async (flags) =>
    (await import('./control/submit-command.ts')).connectAs(flags, surroundings);
  const issue = registerIssueCommands(program, { connect, surroundings }, finish);
  registerIssueControlCommands(issue, parts);
  registerControlCommands(program, parts);
  registerAskCommands(program, parts);
  registerPullCommands(program, parts);
  registerPipelineCommands(program, parts);
  registerIntakeCommands(program, parts);
  registerScanCommands(program, parts);
  registerSetupCommands(program, parts);
  registerLearningCommands(program, parts);
  registerRunCommands(program, parts);
  registerPromptCommands(program, parts);
  registerRequestCommands(program, parts);
  registerJobCommands(program, parts);
  registerStoreCommands(program, parts);
  registerWorkspaceCommands(program, parts);
  registerSalvageCommands(program, parts);
  registerTokenCommands(program, parts);
  nameHelp(program, batonName(surroundings));
  return program;
}

/** After a mistake, each command names its own help. */
function nameHelp(command: Command, name: string): void {
  command.showHelpAfterError(`(see ${name} --help)`);
  for (const each of command.commands) nameHelp(each, `${name} ${each.name()}`);
}

function addProjectCommand(parent: Command, usage: string, description: string): Command {
  return parent
    .command(usage)
    .description(description)
    .addOption(jsonOption())
    .option('--workflow <file>', 'the workflow file', 'WORKFLOW.md')
    .option('--state-dir <dir>', 'the state folder: store, log and caches', folder);
}
