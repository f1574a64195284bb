import { Argument, type Command, Option } from 'commander';
import { authorOf } from '../author-of.ts';
import type { CommandFunction } from '../command-parts.ts';
import { folder } from '../option-parsers.ts';
import type { BoardAccess, BoardContext } from './board-context.ts';
import { addIssueFlags, collect, limit, status, statuses } from './issue-flags.ts';

interface PlaceFlags {
  readonly json?: boolean;
  readonly workflow: string;
  readonly stateDir?: string;
  readonly as?: string;
}

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
      const { json, as, workflow, stateDir } = values.at(-1) as PlaceFlags;
      const { board, readWork, close } = await access.open({
        workflow,
        ...(stateDir === undefined ? {} : { stateDir }),
      });
      const { surroundings } = access;
      const person = authorOf(as, surroundings);
      const context: BoardContext = { board, readWork, person, surroundings, json: json === true };
      try {
        const command = (await load())[name] as (...given: unknown[]) => Promise<number>;
        finish(await command(...values, context));
      } finally {
        await close();
      }
    };
  const change = () => import('./change-issue.ts');
  const issue = program.command('issue').description("show and change the issues of Baton's own board");
  const command = (usage: string, description: string): Command => placed(issue.command(usage), description);

  addIssueFlags(command('add', 'make an issue and print its identifier'))
    .argument('<title>')
    .option('--status <status>', 'where it begins (default: todo)', status)
    .option('--blocked-by <issue>', 'an issue that has to end first; may be given several times', collect)
    .option('--key <key>', 'a key of your own: making it twice makes one issue')
    .action(run(change, 'add'));

  command('list', 'one line an issue')
    .option('--status <status>', 'only of this status; several with commas', statuses)
    .option('--label <name>', 'only with this label; may be given several times', collect)
    .option('--limit <number>', 'at most this many', limit, 50)
    .action(run(() => import('./list.ts'), 'list'));

  command('show', 'everything about an issue, with comments and history')
    .argument('<issue>')
    .action(run(() => import('./show.ts'), 'show'));

  addIssueFlags(command('edit', 'change fields of an issue'))
    .argument('<issue>')
    .option('--title <text>', 'another title')
    .action(run(change, 'edit'));

  command('move', 'move an issue to another status')
    .argument('<issue>')
    .addArgument(new Argument('<status>').argParser(status))
    .option('--reason <text>', 'why, for the history')
    .action(run(change, 'move'));

  command('comment', 'say something about an issue')
    .argument('<issue>')
    .argument('<text>', '- reads it from stdin')
    .action(run(change, 'comment'));

  for (const verb of ['block', 'unblock'] as const) {
    command(verb, verb === 'block' ? 'make an issue wait for others' : 'let an issue not wait for others any more')
      .argument('<issue>')
      .addOption(
        new Option('--by <issue>', 'the other; may be given several times').argParser(collect).makeOptionMandatory(),
      )
      .option('--reason <text>', 'why, for the history')
      .action(run(change, verb));
  }

  command('import', 'make the issues of a file, all or none; a second time makes nothing new')
    .argument('<file>', 'JSON lines or Markdown; - reads stdin')
    .addOption(
      new Option('--format <format>', 'when the name of the file does not tell').choices(['jsonl', 'markdown']),
    )
    .option('--reason <text>', 'why, for the history')
    .action(run(() => import('./import.ts'), 'importFile'));

  placed(program.command('board'), 'show the board in columns')
    .option('--limit <number>', 'at most this many issues a column', limit, 10)
    .action(run(() => import('./board.ts'), 'board'));
  return issue;
}

/** The flags of every command on a board. */
function placed(command: Command, description: string): Command {
  return command
    .description(description)
    .option('--json', 'print JSON, for programs')
    .option('--workflow <file>', 'the workflow file of the board', 'WORKFLOW.md')
    .option('--state-dir <dir>', 'folder for what Baton keeps', folder)
    .option('--as <name>', 'who you are, for the history (default: your login name)');
}
