import { type Command, InvalidArgumentError, Option } from 'commander';
import type { CommandParts } from '../command-parts.ts';
import { withCommandFlags } from '../control/register.ts';
import type { CommandFlags } from '../control/submit-command.ts';
import { count } from '../option-parsers.ts';
import type { LineComment, MergeFlags, SendBackFlags } from './decide.ts';
import type { PullFlags } from './show-pulls.ts';

/** Adds `pr list|show|diff|checkout|approve|merge|send-back|close|check`, and `review`. */
export function registerPullCommands(program: Command, parts: CommandParts): void {
  const { surroundings, finish, addProjectCommand } = parts;
  const pr = program.command('pr').description('review the changes of agents and merge them');
  pr.addHelpText('afterAll', '\n<pull> is the number of a pull request, or its issue.');

  addProjectCommand(pr, 'list', 'list the changes under review, newest first')
    .option('--all', 'also list merged and closed ones')
    .option('--limit <number>', 'list at most this many', count, 50)
    .action(async (flags: PullFlags & { readonly all?: boolean; readonly limit: number }) => {
      const { listPulls } = await import('./show-pulls.ts');
      finish(await listPulls(flags, surroundings));
    });

  addProjectCommand(pr, 'show <pull>', 'show what was asked, what was done, and what you can do now').action(
    async (pull: string, flags: PullFlags) => {
      const { showPull } = await import('./show-pulls.ts');
      finish(await showPull(pull, flags, surroundings));
    },
  );

  addProjectCommand(pr, 'diff <pull>', 'print a change as a patch')
    .option('--stat', 'only list the files')
    .option('--since-round <number>', 'only what changed since this round', count)
    .action(async (pull: string, flags: PullFlags & { readonly stat?: boolean; readonly sinceRound?: number }) => {
      const { diffPull } = await import('./show-pulls.ts');
      finish(await diffPull(pull, flags, surroundings));
    });

  addProjectCommand(pr, 'checkout <pull>', 'switch to the branch of a change in the repository').action(
    async (pull: string, flags: PullFlags) => {
      const { checkoutPull } = await import('./checkout.ts');
      finish(await checkoutPull(pull, flags, surroundings));
    },
  );

  withCommandFlags(addProjectCommand(pr, 'approve <pull>', 'approve a change as it is now')).action(
    async (pull: string, flags: CommandFlags) => {
      const { approvePull } = await import('./decide.ts');
      finish(await approvePull(pull, flags, surroundings));
    },
  );

  withCommandFlags(addProjectCommand(pr, 'merge <pull>', 'merge a change into its base and finish its issue'))
    .addOption(
      new Option('--method <method>', 'how to merge, instead of review.merge_method').choices([
        'merge',
        'squash',
        'rebase',
      ]),
    )
    .option('--ignore-checks', 'merge even if a check is red or did not run')
    .action(async (pull: string, flags: MergeFlags) => {
      const { mergePull } = await import('./decide.ts');
      finish(await mergePull(pull, flags, surroundings));
    });

  withCommandFlags(addProjectCommand(pr, 'send-back <pull>', 'send a change back to the agent with your words'))
    .argument('[note...]', 'what has to change; - reads it from stdin')
    .option('--comment <path:line:text>', 'a comment on a line; repeat the option for more', lineComment)
    .option('--rebase', 'ask the agent to rebase onto the current base')
    .action(async (pull: string, words: string[], flags: SendBackFlags) => {
      const { sendBackPull } = await import('./decide.ts');
      finish(await sendBackPull(pull, words, flags, surroundings));
    });

  withCommandFlags(addProjectCommand(pr, 'close <pull>', 'close a pull request without merging')).action(
    async (pull: string, flags: CommandFlags) => {
      const { closePull } = await import('./decide.ts');
      finish(await closePull(pull, flags, surroundings));
    },
  );

  withCommandFlags(addProjectCommand(pr, 'check <pull>', 'run the checks of a change again on the same commit'))
    .argument('[name]', 'only this check; without it, every check that has not passed')
    .action(async (pull: string, name: string | undefined, flags: CommandFlags) => {
      const { checkPull } = await import('./decide.ts');
      finish(await checkPull(pull, name, flags, surroundings));
    });

  withCommandFlags(
    addProjectCommand(
      program,
      'review <pull>',
      'review a change in the terminal and decide about it; <pull> is its number or its issue',
    ),
  ).action(async (pull: string, flags: CommandFlags) => {
    const { reviewPull } = await import('./review.ts');
    finish(await reviewPull(pull, flags, surroundings));
  });
}

function lineComment(given: string, before: readonly LineComment[] = []): readonly LineComment[] {
  const [, path, line, text] = /^(.+?):(\d+):\s*(.+)$/s.exec(given) ?? [];
  if (path === undefined || line === undefined || text === undefined)
    throw new InvalidArgumentError('Write it as PATH:LINE:TEXT.');
  return [...before, { path, line: Number(line), text }];
}
