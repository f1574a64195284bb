import { Argument, type Command, Option } from 'commander';
import { BatonError } from '../../core/baton-error.ts';
import type { CommandFunction } from '../command-parts.ts';
import { folder } from '../option-parsers.ts';
import { commandsHere } from '../place-flags.ts';
import type { BoardAccess, BoardContext, BoardFlags } from './board-context.ts';
import { addIssueFlags, collect, limit, status, statuses } from './issue-flags.ts';

/**
 * Adds `issue …` and `board` to the command line, and returns the `issue` command so that others may add to it.
 * Commands are loaded when they are called.
 */
export function registerIssueCommands(
  program: Command,
  access: BoardAccess,
  finish: (exitCode: number) => void,
): Command {
  const run =
    <Name extends string>(load: () => Promise<Readonly<Record<Name, CommandFunction>>>, name: Name) =>
    async (...given: unknown[]): Promise<void> => {
      // Commander passes the arguments and options of the command, and then the command itself.
      const values = given.slice(0, -1);
      const flags = values.at(-1) as BoardFlags & { readonly reason?: string };
      const { surroundings } = access;
      await using connection = await access.connect(flags);
      const { project, described } = connection;
      if (!described.has_board) throw notBoard(described.tracker);
      // The key of `add` is one of the issue, not of the command.
      const sent = flags.reason === undefined ? {} : { reason: flags.reason };
      const context: BoardContext = {
        project,
        change: async (request) => {
          const { sendChange } = await import('../control/submit-command.ts');
          return sendChange(connection, request, sent, surroundings);
        },
        surroundings,
        json: flags.json === true,
        here: commandsHere(flags, surroundings),
      };
      const command = (await load())[name] as (...given: unknown[]) => Promise<number>;
      finish(await command(...values, context));
    };
  const change = () => import('./change-issue.ts');
  const issue = program.command('issue').description("show and change the issues of Baton's own board");
  const command = (usage: string, description: string): Command => placed(issue.command(usage), description);

  addIssueFlags(command('add', 'create an issue and print its identifier'))
    .argument('<title>')
    .option('--status <status>', 'its first status (default: todo)', status)
    .option('--blocked-by <issue>', 'an issue that must finish first; may be given several times', collect)
    .option('--key <key>', 'a key that you choose; only one issue with the same key is created')
    .action(run(change, 'add'));

  command('list', 'list issues, one line each')
    .option('--status <status>', 'only issues of this status; separate several with commas', statuses)
    .option('--label <name>', 'only issues with this label; may be given several times', collect)
    .option('--limit <number>', 'how many at most', limit, 50)
    .action(run(() => import('./list.ts'), 'list'));

  command('show', 'show everything about an issue, with comments and history')
    .argument('<issue>')
    .action(run(() => import('./show.ts'), 'show'));

  addIssueFlags(command('edit', 'change fields of an issue'))
    .argument('<issue>')
    .option('--title <text>', 'the new title')
    .action(run(change, 'edit'));

  command('move', 'move an issue to another status')
    .argument('<issue>')
    .addArgument(new Argument('<status>').argParser(status))
    .option('--reason <text>', 'why, for the history')
    .action(run(change, 'move'));

  command('comment', 'add a comment to an issue')
    .argument('<issue>')
    .argument('<text>', 'the comment; - reads it from stdin')
    .action(run(change, 'comment'));

  for (const verb of ['block', 'unblock'] as const) {
    command(verb, verb === 'block' ? 'make an issue wait for others' : 'stop an issue from waiting for others')
      .argument('<issue>')
      .addOption(
        new Option('--by <issue>', 'the other issue; may be given several times')
          .argParser(collect)
          .makeOptionMandatory(),
      )
      .option('--reason <text>', 'why, for the history')
      .action(run(change, verb));
  }

  command('import', 'create issues from a file, all of them or none; an issue that was imported before does not change')
    .argument('<file>', 'JSON lines or Markdown; - reads stdin')
    .addOption(
      new Option('--format <format>', 'the format, if the name of the file does not show it').choices([
        'jsonl',
        'markdown',
      ]),
    )
    .option('--reason <text>', 'why, for the history')
    .action(run(() => import('./import.ts'), 'importFile'));

  placed(program.command('board'), 'show the board in columns')
    .option('--limit <number>', 'how many issues each column shows at most', limit, 10)
    .action(run(() => import('./board.ts'), 'board'));
  return issue;
}

function notBoard(tracker: string): BatonError {
  return new BatonError(
    'tracker_not_board',
    `The tracker of this workflow file is "${tracker}", not Baton's own board.`,
  );
}

/** The flags of every command on a board. */
function placed(command: Command, description: string): Command {
  return command
    .description(description)
    .option('--json', 'print JSON, for programs')
    .option('--workflow <file>', 'the workflow file of the board', 'WORKFLOW.md')
    .option('--state-dir <dir>', 'the state folder', folder)
    .option('--as <name>', 'the author in the history (default: your login name)');
}
