import { z } from 'zod';
import type { AgentSettings, CodexSettings, TokenPrice } from '../../core/settings.ts';
import { choice, environmentName, type SettingType, usdAmount, wholeNumber } from './setting-types.ts';

/** An account as the file has it: references are not looked up yet. */
export interface WrittenAccount {
  readonly name: string;
  readonly backend?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly home?: string | undefined;
}

/** It is a key of the store, a word on the command line and a part of lines in the log. */
const accountName = /^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$/;

export const accountList: SettingType<WrittenAccount[]> = {
  schema: z.array(
    z.strictObject({
      name: z.string().regex(accountName),
      backend: z.string().optional(),
      env: z.record(z.string().regex(environmentName), z.string()).optional(),
      home: z.string().optional(),
    }),
  ),
  name: 'account_list',
  allowed: 'a list of accounts, such as `[{name: work, home: ~/work-login}]`',
  allowedEntry:
    'as in `{name: work, backend: codex, env: {NAME: $VALUE}, home: ~/work}`, with a name of letters, digits and . _ @ + -',
};

export const percentage: SettingType<number> = {
  schema: wholeNumber(1, 100, /^\+?\d{1,3}$/),
  name: 'percentage',
  allowed: 'a whole number from 1 to 100',
};

export const approvals: SettingType<AgentSettings['approvals']> = choice('auto', 'deny', 'ask');

export const codexTools: SettingType<CodexSettings['tools']> = choice('dynamic', 'mcp', 'none');

const price = z
  .strictObject({ input: usdAmount.schema, cached_input: usdAmount.schema.optional(), output: usdAmount.schema })
  .transform(({ input, cached_input, output }): TokenPrice => ({ input, cachedInput: cached_input ?? null, output }));

export const priceTable: SettingType<Record<string, TokenPrice>> = {
  schema: z.record(z.string().regex(/\S/), price),
  name: 'price_table',
  allowed: 'a map from models to prices, such as `{"*": {input: 1.25, cached_input: 0.125, output: 10}}`',
  allowedEntry: 'as in `{input: 1.25, cached_input: 0.125, output: 10}`, in US dollars, under the name of a model',
};
