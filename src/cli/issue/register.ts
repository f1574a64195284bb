import { Argument, type Command, Option } from 'commander';
import { authorOf } from '../author-of.ts';
import { folder } from '../option-parsers.ts';
import type { BoardAccess, BoardContext } from './board-context.ts';
import type { AddFlags, BlockFlags, EditFlags } from './change-issue.ts';
import type { ImportFlags } from './import.ts';
import { addIssueFlags, collect, limit, status, statuses } from './issue-flags.ts';
import type { ListFlags } from './list.ts';

interface PlaceFlags {
  readonly json?: boolean;
  readonly workflow: string;
  readonly stateDir?: string;
  readonly as?: string;
}

/**
 * Adds `issue …` and `board` to the command line, and returns the `issue` command so that others may add to it. Commands are
 * loaded when they are called.
 */
export function registerIssueCommands(
  program: Command,
  access: BoardAccess,
  finish: (exitCode: number) => void,
): Command {
  const onBoard = async (flags: PlaceFlags, run: (context: BoardContext) => Promise<number>): Promise<void> => {
    const { workflow, stateDir } = flags;
    const { board, readWork, close } = await access.open({ workflow, ...(stateDir === undefined ? {} : { stateDir }) });
    const { surroundings } = access;
    const person = authorOf(flags.as, surroundings);
    try {
      finish(await run({ board, readWork, person, surroundings, json: flags.json === true }));
    } finally {
      await close();
    }
  };
  const issue = program.command('issue').description("show and change the issues of Baton's own board");
  const command = (usage: string, description: string): Command => placed(issue.command(usage), description);

  addIssueFlags(command('add', 'make an issue and print its identifier'))
    .argument('<title>')
    .option('--status <status>', 'where it begins (default: todo)', status)
    .option('--blocked-by <issue>', 'an issue that has to end first; may be given several times', collect)
    .option('--key <key>', 'a key of your own: making it twice makes one issue')
    .action((title: string, flags: PlaceFlags & AddFlags) =>
      onBoard(flags, async (context) => (await import('./change-issue.ts')).add(title, flags, context)),
    );

  command('list', 'one line an issue')
    .option('--status <status>', 'only of this status; several with commas', statuses)
    .option('--label <name>', 'only with this label; may be given several times', collect)
    .option('--limit <number>', 'at most this many', limit, 50)
    .action((flags: PlaceFlags & ListFlags) =>
      onBoard(flags, async (context) => (await import('./list.ts')).list(flags, context)),
    );

  command('show', 'everything about an issue, with comments and history')
    .argument('<issue>')
    .action((name: string, flags: PlaceFlags) =>
      onBoard(flags, async (context) => (await import('./show.ts')).show(name, context)),
    );

  addIssueFlags(command('edit', 'change fields of an issue'))
    .argument('<issue>')
    .option('--title <text>', 'another title')
    .action((name: string, flags: PlaceFlags & EditFlags) =>
      onBoard(flags, async (context) => (await import('./change-issue.ts')).edit(name, flags, context)),
    );

  command('move', 'move an issue to another status')
    .argument('<issue>')
    .addArgument(new Argument('<status>').argParser(status))
    .option('--reason <text>', 'why, for the history')
    .action((name: string, to: ReturnType<typeof status>, flags: PlaceFlags & { reason?: string }) =>
      onBoard(flags, async (context) => (await import('./change-issue.ts')).move(name, to, flags, context)),
    );

  command('comment', 'say something about an issue')
    .argument('<issue>')
    .argument('<text>', '- reads it from stdin')
    .action((name: string, text: string, flags: PlaceFlags) =>
      onBoard(flags, async (context) => (await import('./change-issue.ts')).comment(name, text, context)),
    );

  for (const verb of ['block', 'unblock'] as const) {
    command(verb, verb === 'block' ? 'make an issue wait for others' : 'let an issue not wait for others any more')
      .argument('<issue>')
      .addOption(
        new Option('--by <issue>', 'the other; may be given several times').argParser(collect).makeOptionMandatory(),
      )
      .option('--reason <text>', 'why, for the history')
      .action((name: string, flags: PlaceFlags & BlockFlags) =>
        onBoard(flags, async (context) => (await import('./change-issue.ts')).block(verb, name, flags, context)),
      );
  }

  command('import', 'make the issues of a file, all or none; a second time makes nothing new')
    .argument('<file>', 'JSON lines or Markdown; - reads stdin')
    .addOption(
      new Option('--format <format>', 'when the name of the file does not tell').choices(['jsonl', 'markdown']),
    )
    .option('--reason <text>', 'why, for the history')
    .action((file: string, flags: PlaceFlags & ImportFlags) =>
      onBoard(flags, async (context) => (await import('./import.ts')).importFile(file, flags, context)),
    );

  placed(program.command('board'), 'show the board in columns')
    .option('--limit <number>', 'at most this many issues a column', limit, 10)
    .action((flags: PlaceFlags & { limit: number }) =>
      onBoard(flags, async (context) => (await import('./board.ts')).board(flags, context)),
    );
  return issue;
}

/** What every command on a board takes. */
function placed(command: Command, description: string): Command {
  return command
    .description(description)
    .option('--json', 'print JSON, for programs')
    .option('--workflow <file>', 'the workflow file of the board', 'WORKFLOW.md')
    .option('--state-dir <dir>', 'folder for what Baton keeps', folder)
    .option('--as <name>', 'who you are, for the history (default: your login name)');
}
