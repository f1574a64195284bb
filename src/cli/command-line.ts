import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { BatonError, toBatonError } from '../core/baton-error.ts';
import { nearestKey } from '../workflow/nearest-key.ts';
import { exitCodes } from './exit-codes.ts';
import { reportError } from './report-error.ts';
import type { Surroundings } from './surroundings.ts';

/** Runs one command and answers with its exit code: 0 normal, 1 error, 2 usage. Never throws. */
export async function runCommandLine(argv: readonly string[], surroundings: Surroundings): Promise<number> {
  const json = argv.includes('--json');
  let exitCode: number = exitCodes.ok;
  const program = commandLine(surroundings, json, (code) => {
    exitCode = code;
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
    reportError(toBatonError(thrown), { json, surroundings });
    return exitCodes.error;
  }
}

/** Commands are loaded when they are called, so that `--version` does not pay for the daemon. */
function commandLine(surroundings: Surroundings, json: boolean, finish: (exitCode: number) => void): Command {
  const program = new Command('baton')
    .description('One ticket, one live coding agent. Without a command: start.')
    .version(surroundings.version)
    .showSuggestionAfterError()
    .showHelpAfterError('(see baton --help)')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => surroundings.stdout.write(text),
      writeErr: (text) => void (json || surroundings.stderr.write(text)),
    });

  const add = (usage: string, description: string): Command =>
    program.command(usage).description(description).addOption(jsonOption());

  program
    .command('start', { isDefault: true })
    .description('take tickets and run agents until stopped')
    .argument('[workflow]', 'the workflow file', 'WORKFLOW.md')
    .option('--port <number>', 'port of the HTTP API', port)
    .option('--logs-root <dir>', 'folder for log/baton.log', folder)
    .option('--state-dir <dir>', 'folder for what Baton keeps', folder)
    .addOption(jsonOption())
    .action(async (workflow: string, options: StartFlags) => {
      const { start } = await import('./start.ts');
      const commands = program.commands.map((command) => command.name());
      finish(
        await start(workflow, options, surroundings).catch((error) => throwWithCommand(error, workflow, commands)),
      );
    });

  add('validate', 'check a workflow file and print the settings it gives')
    .argument('[workflow]', 'the workflow file', 'WORKFLOW.md')
    .action(async (workflow: string, options: JsonFlag) => {
      const { validate } = await import('./validate.ts');
      finish(validate(workflow, options, surroundings));
    });

  add('schema', "print the JSON Schema of a workflow file's front matter, for editors").action(async () => {
    const { schema } = await import('./schema.ts');
    finish(schema(surroundings));
  });

  add('demo', 'eight tickets through a scratch repository, with a scripted stand-in for an agent')
    .option('--once', 'end when nothing is left to do')
    .option('--dir <dir>', 'folder for the scratch repository (default: a new one)', folder)
    .action(async (options: DemoFlags) => {
      const { demo } = await import('./demo.ts');
      finish(await demo(options, surroundings));
    });

  add('doctor', 'check this machine: each line is ok, or the command that mends it')
    .argument('[workflow]', 'also check what this workflow file needs')
    .action(async (workflow: string | undefined, options: JsonFlag) => {
      const { doctor } = await import('./doctor.ts');
      finish(await doctor(workflow ?? null, options, surroundings));
    });

  return program;
}

/** `baton validat` is understood as a file to start with; who mistyped a command is told which. */
function throwWithCommand(error: unknown, workflow: string, commands: readonly string[]): never {
  const command = nearestKey(workflow, commands);
  if (command === null || !(error instanceof BatonError) || error.code !== 'missing_workflow_file') throw error;
  const nextStep = `If you meant the command: \`baton ${command}\`. Otherwise: ${error.nextStep}`;
  throw new BatonError(error.code, error.message, { cause: error.cause, details: error.details, nextStep });
}

export interface JsonFlag {
  readonly json?: boolean;
}

export interface StartFlags extends JsonFlag {
  readonly port?: number;
  readonly logsRoot?: string;
  readonly stateDir?: string;
}

export interface DemoFlags extends JsonFlag {
  readonly once?: boolean;
  readonly dir?: string;
}

function jsonOption(): Option {
  return new Option('--json', 'print JSON, for programs');
}

function port(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value <= 65_535) return value;
  throw new InvalidArgumentError('It must be a whole number from 0 to 65535.');
}

function folder(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('It must not be blank.');
  return text;
}
