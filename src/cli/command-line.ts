import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { toBatonError } from '../core/baton-error.ts';
import { exitCodes } from './exit-codes.ts';
import { reportError } from './report-error.ts';
import type { Surroundings } from './surroundings.ts';

/** Runs one command and answers with its exit code: 0 normal, 1 error, 2 usage. Never throws. */
export async function runCommandLine(argv: readonly string[], surroundings: Surroundings): Promise<number> {
  const json = argv.includes('--json');
  let exitCode: number = exitCodes.ok;
  const program = commandLine(surroundings, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (thrown) {
    // Commander has already printed help, version or what is wrong with the arguments.
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    reportError(toBatonError(thrown), { json, surroundings });
    return exitCodes.error;
  }
}

/** Commands are loaded when they are called, so that `--version` does not pay for the daemon. */
function commandLine(surroundings: Surroundings, finish: (exitCode: number) => void): Command {
  const program = new Command('baton')
    .description('One ticket, one live coding agent. Without a command: start.')
    .version(surroundings.version)
    .showSuggestionAfterError()
    .showHelpAfterError('(see baton --help)')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => surroundings.stdout.write(text),
      writeErr: (text) => surroundings.stderr.write(text),
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
      finish(await start(workflow, options, surroundings));
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
