import { type Command, Option } from 'commander';
import type { CommandParts } from '../command-parts.ts';
import { jsonOption } from '../option-parsers.ts';

/** Adds `token create|list|revoke`. */
export function registerTokenCommands(program: Command, { run }: CommandParts): void {
  const load = () => import('./tokens.ts');
  const token = program.command('token').description('create and revoke API tokens for other machines and programs');
  token
    .command('create')
    .description('create a token; it is shown only once')
    .addOption(
      new Option('--scope <scope>', 'what the token allows').choices(['read', 'operate']).makeOptionMandatory(),
    )
    .option('--name <name>', 'who or what it is for: the author of its commands (default: your login name)')
    .addOption(jsonOption())
    .action(run(load, 'createToken'));
  token.command('list').description('list the tokens').addOption(jsonOption()).action(run(load, 'listTokens'));
  token.command('revoke <id>').description('revoke a token').addOption(jsonOption()).action(run(load, 'revokeToken'));
}
