import { type Command, Option } from 'commander';
import type { CommandParts } from '../command-parts.ts';
import { jsonOption } from '../option-parsers.ts';

/** Adds `token create|list|revoke`. */
export function registerTokenCommands(program: Command, { run }: CommandParts): void {
  const load = () => import('./tokens.ts');
  const token = program.command('token').description('who else may use the API: for other machines, phones, programs');
  token
    .command('create')
    .description('make a token; it is shown once and never again')
    .addOption(new Option('--scope <scope>', 'what it allows').choices(['read', 'operate']).makeOptionMandatory())
    .option('--name <name>', 'whose it is, or what for; its commands are given in this name (default: your login name)')
    .addOption(jsonOption())
    .action(run(load, 'createToken'));
  token.command('list').description('the tokens there are').addOption(jsonOption()).action(run(load, 'listTokens'));
  token
    .command('revoke <id>')
    .description('refuse a token from now on')
    .addOption(jsonOption())
    .action(run(load, 'revokeToken'));
}
