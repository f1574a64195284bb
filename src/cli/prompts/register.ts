import type { Command } from 'commander';
import type { CommandParts } from '../command-parts.ts';
import { count } from '../option-parsers.ts';

/** Adds `prompts list|compare`. */
export function registerPromptCommands(program: Command, { run, addProjectCommand }: CommandParts): void {
  const prompts = program.command('prompts').description('see how the runs of each prompt ended');
  const show = () => import('./show-prompts.ts');
  const days = ['--days <number>', 'count runs that started within this many days', count, 90] as const;
  addProjectCommand(prompts, 'list', 'list the prompts by version, role and agent, with their results')
    .option(...days)
    .action(run(show, 'listPrompts'));
  addProjectCommand(
    prompts,
    'compare [versions...]',
    'compare two prompts, and say which differences may be chance (default: the two in use, or the last two)',
  )
    .option('--role <role>', 'the role whose prompts are compared', 'worker')
    .option(...days)
    .action(run(show, 'comparePrompts'));
}
