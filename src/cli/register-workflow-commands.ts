import type { Command } from 'commander';
import type { CommandParts } from './command-parts.ts';
import { jsonOption } from './option-parsers.ts';

/** Adds `init`, `validate` and `schema`. */
export function registerWorkflowCommands(program: Command, { run }: CommandParts): void {
  program
    .command('init')
    .description('write a workflow file; asks what the options leave open')
    .argument('[workflow]', 'the file to write', 'WORKFLOW.md')
    .option('--tracker <kind>', 'board, linear or memory')
    .option('--agent <backend>', 'command, rehearsal or codex')
    .option('--command <text>', 'the program of the agent "command"')
    .option('--project-slug <slug>', 'the project in Linear')
    .option('--label <name>', 'only issues with this label; - for all')
    .option('--repo <address>', 'the git repository that issues are worked on in, a path or a URL; - for none')
    .option('--yes', 'take the default for every question')
    .addOption(jsonOption())
    .action(run(() => import('./init.ts'), 'init'));

  program
    .command('validate')
    .description('check a workflow file and print the settings it gives')
    .argument('[workflow]', 'the workflow file', 'WORKFLOW.md')
    .addOption(jsonOption())
    .action(run(() => import('./validate.ts'), 'validate'));

  program
    .command('schema')
    .description("print the JSON Schema of a workflow file's front matter, for editors")
    .addOption(jsonOption())
    .action(run(() => import('./validate.ts'), 'schema'));
}
