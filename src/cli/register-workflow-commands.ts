import type { Command } from 'commander';
import type { CommandParts } from './command-parts.ts';
import { jsonOption } from './option-parsers.ts';

/** Adds `init`, `validate` and `schema`. */
export function registerWorkflowCommands(program: Command, { surroundings, finish, run }: CommandParts): void {
  program
    .command('init')
    .description('write a workflow file; asks what the options do not say')
    // Its options come from the adapters, so `initCommand` parses all of them, including `--help`.
    .helpOption(false)
    .allowUnknownOption()
    .allowExcessArguments()
    .action(async (_options: unknown, { args }: Command) => {
      const { initCommand } = await import('./init.ts');
      await initCommand(surroundings, finish).copyInheritedSettings(program).parseAsync(args, { from: 'user' });
    });

  program
    .command('validate')
    .description('check a workflow file and print its settings')
    .argument('[workflow]', 'the workflow file', 'WORKFLOW.md')
    .addOption(jsonOption())
    .action(run(() => import('./validate.ts'), 'validate'));

  program
    .command('schema')
    .description("print the JSON Schema of a workflow file's front matter, for editors")
    .addOption(jsonOption())
    .action(run(() => import('./validate.ts'), 'schema'));
}
