import * as z from 'zod';
import { notifyEvents } from '../../core/notify/notify-cause.ts';
import { mostArtifactBytes, type Phase, readyPhase, validations } from '../../core/pipeline/phase.ts';
import type { Choice, ReviewCheck, SettingTypes, TokenPrice } from '../../core/settings/setting.ts';

/** How a value may be written in the file: the schema that reads it, and its description for messages. */
export interface SettingType<T = unknown> {
  readonly schema: z.ZodType<T>;
  /** The name of the type for programs that read problems. */
  readonly name: string;
  /** Completes "must be …". */
  readonly allowed: string;
  /** Completes "must be …" for one entry of a list or a map. */
  readonly allowedEntry?: string;
  /** All possible values, where they can be listed. */
  readonly choices?: readonly string[];
}

export function typeOf(type: keyof SettingTypes | Choice): SettingType {
  if (typeof type === 'string') return { name: type, ...types[type] };
  return { schema: z.enum(type.choices), name: 'choice', allowed: wordList(type.choices), choices: type.choices };
}

/** `a, b or c`. */
export function wordList(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

/** A number may also be written as text (`"5000"`), as the first specification allowed; 15 digits are always exact. */
function wholeNumber(least: number, most = largest): z.ZodType<number> {
  const text = z
    .string()
    .regex(new RegExp(`^${least < 0 ? '[+-]' : '\\+'}?\\d{1,${String(most).length}}$`))
    .transform(Number)
    .refine((value) => value >= least && value <= most);
  return z.union([z.int().min(least).max(most), text]);
}

const environmentName = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** The name is a key of the store, a word on the command line and a part of log lines. */
const accountName = /^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$/;
/** A word on the command line and in a label. `default` is the agent of the section `agent`. */
const agentName = /^(?!default$)[a-z0-9][a-z0-9._-]{0,39}$/;
const largest = 999_999_999_999_999;
const positive = wholeNumber(1);
const natural = wholeNumber(0);
const words = z.string().regex(/\S/);

export const flag = z.union([
  z.boolean(),
  z.enum(['true', 'false', '1', '0']).transform((word) => word === 'true' || word === '1'),
]);

/**
 * Millionths are the smallest unit that Baton counts: a smaller limit would be zero. A limit above `mostUsd` is a
 * mistake.
 */
const leastUsd = 0.000_001;
const mostUsd = 999_999_999;
const usd = z.union([
  z
    .number()
    .min(0)
    .max(mostUsd)
    .refine((value) => value === 0 || value >= leastUsd),
  z
    .string()
    .regex(/^\+?\d{1,9}(?:\.\d{1,6})?$/)
    .transform(Number)
    .refine((value) => value <= mostUsd),
]);

const price = z
  .strictObject({ input: usd, cached_input: usd.optional(), output: usd })
  .transform(({ input, cached_input, output }): TokenPrice => ({ input, cachedInput: cached_input ?? null, output }));

const account = z.strictObject({
  name: z.string().regex(accountName),
  backend: z.string().optional(),
  env: z.record(z.string().regex(environmentName), z.string()).optional(),
  home: z.string().optional(),
});

/** A name is a key of the store and a word on the screens; a command without one is its own name. */
const longestCheckName = 80;
const check = z.union([
  words.transform((run): ReviewCheck => ({ name: run.trim().slice(0, longestCheckName), run, timeoutMs: null })),
  z
    .strictObject({ name: words.max(longestCheckName), run: words, timeout_ms: positive.optional() })
    .transform(({ name, run, timeout_ms }): ReviewCheck => ({ name, run, timeoutMs: timeout_ms ?? null })),
]);
const checkList = z.array(check).refine((checks) => new Set(checks.map(({ name }) => name)).size === checks.length);

/** A word in labels, on the command line and in file names. */
const phaseName = /^[a-z0-9][a-z0-9_-]{0,39}$/;
const phaseTurns = 5;
/** Inside the workspace, and not in a folder of git. */
const artifactPath = words.refine(
  (path) => !path.startsWith('/') && path.split('/').every((part) => !['', '.', '..', '.git'].includes(part)),
);
const phase = z
  .strictObject({
    name: z
      .string()
      .regex(phaseName)
      .refine((name) => name !== readyPhase),
    role: words.optional(),
    agent: words.optional(),
    prompt: words.optional(),
    artifact: artifactPath.optional(),
    required_sections: z.array(words).default([]),
    max_bytes: wholeNumber(1, mostArtifactBytes).default(mostArtifactBytes),
    schema: z.record(z.string(), z.unknown()).optional(),
    validation: z.enum(validations).default('structural'),
    judge: words.optional(),
    judge_prompt: words.optional(),
    may_skip: flag.default(true),
    max_turns: positive.default(phaseTurns),
  })
  .transform(
    ({ name, role, agent, prompt, artifact, schema, judge, ...rest }): Phase => ({
      name,
      role: role ?? name,
      agent: agent ?? null,
      prompt: prompt ?? null,
      artifact: artifact ?? `.baton/${name}.${schema === undefined ? 'md' : 'json'}`,
      requiredSections: rest.required_sections,
      maxBytes: rest.max_bytes,
      schema: schema ?? null,
      validation: rest.validation,
      judge: judge ?? null,
      judgePrompt: rest.judge_prompt ?? null,
      maySkip: rest.may_skip,
      maxTurns: rest.max_turns,
    }),
  );
/** The last one may be written as `ready`, for the reader: it is always there. */
const isReady = (written: unknown): boolean =>
  written === readyPhase || (typeof written === 'object' && written !== null && JSON.stringify(written) === readyAlone);
const readyAlone = JSON.stringify({ name: readyPhase });
const phaseList = z.preprocess(
  (written) =>
    Array.isArray(written) && written.length > 1 && isReady(written.at(-1)) ? written.slice(0, -1) : written,
  z
    .array(phase)
    .refine((phases) => new Set(phases.map(({ name }) => name)).size === phases.length)
    .refine((phases) => new Set(phases.map(({ artifact }) => artifact)).size === phases.length),
);

const events = z.array(z.enum(notifyEvents)).min(1).optional();
const address = { url: words, events, allow_insecure_endpoint: flag.optional() };
const target = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('webhook'), secret: words, ...address }),
  z.strictObject({ kind: z.literal('slack'), ...address }),
  z.strictObject({ kind: z.literal('command'), run: words, events }),
]);

const timeOfDay = String.raw`(?:[01]\d|2[0-3]):[0-5]\d`;
const minutesOfDay = 24 * 60;
const quietHours = z
  .string()
  .regex(new RegExp(`^${timeOfDay}-(?:${timeOfDay}|24:00)$`))
  .transform((written) => {
    const [fromMinute = 0, toMinute = 0] = written.split('-').map(minuteOf);
    return { fromMinute, toMinute };
  })
  .refine(({ fromMinute, toMinute }) => fromMinute !== toMinute % minutesOfDay);

function minuteOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
}

/** An offset such as `+02:00` is refused: it would be wrong for half of the year in most places. */
function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return Intl.DateTimeFormat('en-US', { timeZone: name }) !== null;
  } catch {
    return false;
  }
}

const types: { readonly [N in keyof SettingTypes]: Omit<SettingType<SettingTypes[N]>, 'name'> & { name?: string } } = {
  text: { schema: z.string(), allowed: 'text' },
  non_blank_text: { schema: words, allowed: 'text that is not blank' },
  script: {
    name: 'text',
    schema: z.string().transform((text) => (text.trim() === '' ? null : text)),
    allowed: 'text',
  },
  text_list: {
    schema: z.array(z.string()),
    allowed: 'a list of texts, such as `[Todo, In Progress]`',
    allowedEntry: 'text',
  },
  name_list: {
    schema: z.array(words),
    allowed: 'a list of names, such as `[ada@example.org]`',
    allowedEntry: 'a name that is not blank',
  },
  environment_names: {
    schema: z.array(z.string().regex(environmentName)),
    allowed: 'a list of names of environment variables',
    allowedEntry: 'the name of an environment variable',
  },
  path_list: {
    schema: z.array(words),
    allowed: 'a list of paths, such as `[~/.kube/config]`',
    allowedEntry: 'a path',
  },
  boolean: { schema: flag, allowed: 'true or false' },
  integer: { schema: wholeNumber(-largest), allowed: 'a whole number' },
  natural_number: { schema: natural, allowed: 'a whole number, 0 or more' },
  positive_integer: { schema: positive, allowed: 'a whole number above 0' },
  percentage: { schema: wholeNumber(1, 100), allowed: 'a whole number from 1 to 100' },
  port_number: { schema: wholeNumber(0, 65_535), allowed: 'a whole number from 0 to 65535' },
  lease_time: { schema: wholeNumber(3000), allowed: 'a whole number, 3000 or more' },
  /** No recurring job has to run more often than every second; events do not wait for it. */
  job_interval: { schema: wholeNumber(1000), allowed: 'a whole number, 1000 or more' },
  usd_amount: { schema: usd, allowed: 'an amount of US dollars, 0 or at least 0.000001, such as 2.50' },
  map: { schema: z.record(z.string(), z.unknown()), allowed: 'a map' },
  text_or_map: { schema: z.union([z.string(), z.record(z.string(), z.unknown())]), allowed: 'text or a map' },
  times_by_state: {
    schema: z.record(words, natural),
    allowed: 'a map from state names to whole numbers, 0 or more',
    allowedEntry: 'a state name that is not blank with a whole number, 0 or more',
  },
  limits_by_state: {
    schema: z.record(words, positive),
    allowed: 'a map from state names to whole numbers above 0',
    allowedEntry: 'a state name that is not blank with a whole number above 0',
  },
  names_by_state: {
    schema: z.record(words, words),
    allowed: 'a map from state names to names',
    allowedEntry: 'a state name that is not blank with a name',
  },
  quiet_hours: {
    schema: quietHours,
    allowed: 'two different times of day, such as `22:00-06:00`',
  },
  time_zone: {
    schema: z.string().refine(isTimeZone),
    allowed: 'the IANA name of a time zone, such as `Europe/Berlin`',
  },
  request_allowance: {
    schema: z.union([positive, z.record(words, positive)]),
    allowed: 'a whole number above 0, or a map from providers to such numbers',
    allowedEntry: 'the name of a provider with a whole number above 0',
  },
  account_list: {
    schema: z.array(account),
    allowed: 'a list of accounts, such as `[{name: work, home: ~/work-login}]`',
    allowedEntry:
      'as in `{name: work, backend: command, env: {NAME: $VALUE}, home: ~/work}`, with a name of letters, digits and . _ @ + -',
  },
  agent_table: {
    schema: z.record(z.string().regex(agentName), z.record(z.string(), z.unknown())),
    allowed: 'a map from names to agents, such as `{opus: {backend: claude, model: opus}}`',
    allowedEntry:
      'as in `{backend: codex, model: gpt-5}`, under a name of small letters, digits and . _ - other than `default`',
  },
  price_table: {
    schema: z.record(words, price),
    allowed: 'a map from models to prices, such as `{"*": {input: 1.25, cached_input: 0.125, output: 10}}`',
    allowedEntry: 'as in `{input: 1.25, cached_input: 0.125, output: 10}`, in US dollars, under the name of a model',
  },
  check_list: {
    schema: checkList,
    allowed: 'a list of commands with different names, such as `[npm test, {name: lint, run: npm run lint}]`',
    allowedEntry: 'a command, or as in `{name: test, run: npm test, timeout_ms: 600000}`',
  },
  phase_list: {
    schema: phaseList,
    allowed:
      'a list of phases with different names and artifacts, such as `[{name: research, required_sections: [Findings]}]`',
    allowedEntry:
      'as in `{name: research, agent: default, artifact: .baton/research.md, required_sections: [Findings], validation: structural}`, ' +
      'with a name of small letters, digits, _ and -; `ready` is always the last phase',
  },
  target_list: {
    schema: z.array(target),
    allowed: 'a list of targets, such as `[{kind: slack, url: $SLACK_URL}]`',
    allowedEntry:
      `as in \`{kind: webhook, url: $HOOK_URL, secret: $HOOK_SECRET}\`, \`{kind: slack, url: $SLACK_URL}\` or ` +
      `\`{kind: command, run: notify-send Baton}\`, each with \`events\` of ${notifyEvents.join(', ')}`,
  },
};
