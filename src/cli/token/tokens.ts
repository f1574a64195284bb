import { systemChance } from '../../clock/system-chance.ts';
import { systemClock } from '../../clock/system-clock.ts';
import { BatonError } from '../../core/baton-error.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import { tokenFile } from '../../daemon/state-folder.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { type StoredToken, TokenFile } from '../../server/token-file.ts';
import { authorOf } from '../author-of.ts';
import { columns } from '../columns.ts';
import { exitCodes } from '../exit-codes.ts';
import { jsonLine } from '../json-line.ts';

// These commands work on the file of tokens alone, next to any daemon or none. The API has no route for tokens: a caller
// that reaches the API must not be able to give itself more rights.

interface JsonFlag {
  readonly json?: boolean;
}

export interface NewTokenFlags extends JsonFlag {
  readonly scope: 'read' | 'operate';
  readonly name?: string;
}

const longestName = 100;

/** `baton token create`: creates a token and shows it, this once. */
export async function createToken({ scope, name, json }: NewTokenFlags, surroundings: Surroundings): Promise<number> {
  if ((await authorOf(name, surroundings)).kind === 'run')
    throw new BatonError(
      'usage_error',
      'An agent cannot create a token, because the holder of a token counts as a person.',
      {
        details: { problem: 'agent_cannot_create_token' },
      },
    );
  const shown = harmlessLine(name ?? surroundings.userName).slice(0, longestName);
  if (shown === '') throw new BatonError('usage_error', 'The name must not be blank.');
  const kept = { id: systemChance.id().slice(0, 8), name: shown, scope, createdAt: systemClock.now() };
  const token = await tokensOf(surroundings).create(kept);
  surroundings.stdout.write(
    json
      ? jsonLine({ token, ...presentToken(kept) })
      : `${token}\n\nIt is shown only once. Send it as "Authorization: Bearer …"; baton token revoke ${kept.id} ends it.\n`,
  );
  return exitCodes.ok;
}

/** `baton token list`. */
export function listTokens({ json }: JsonFlag, surroundings: Surroundings): number {
  const tokens = tokensOf(surroundings).list().map(presentToken);
  const rows = tokens.map(({ id, scope, created_at, name }) => [id, scope, created_at, name]);
  const text = rows.length === 0 ? ['There are no tokens.'] : columns(['ID', 'SCOPE', 'CREATED', 'NAME'], rows);
  surroundings.stdout.write(json ? jsonLine({ tokens }) : `${text.join('\n')}\n`);
  return exitCodes.ok;
}

/** `baton token revoke`. */
export async function revokeToken(id: string, { json }: JsonFlag, surroundings: Surroundings): Promise<number> {
  if (!(await tokensOf(surroundings).revoke(id)))
    throw new BatonError('usage_error', `There is no token ${harmlessLine(id)}.`, {
      nextStep: 'See `baton token list`.',
      details: { problem: 'unknown_token' },
    });
  surroundings.stdout.write(json ? jsonLine({ revoked: id }) : `The token ${id} is refused from now on.\n`);
  return exitCodes.ok;
}

function tokensOf(surroundings: Surroundings): TokenFile {
  return new TokenFile(tokenFile(surroundings), systemClock);
}

function presentToken({ id, name, scope, createdAt }: Omit<StoredToken, 'digest'>): {
  readonly id: string;
  readonly name: string;
  readonly scope: string;
  readonly created_at: string;
} {
  return { id, name, scope, created_at: new Date(createdAt).toISOString() };
}
