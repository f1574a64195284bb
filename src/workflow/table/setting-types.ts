import { z } from 'zod';
import type { PollingSettings, QuietHours, RequestAllowance, WorkspaceStrategy } from '../../core/settings.ts';

/** How a value may be written in the file: the schema that reads it, and the same in words for messages. */
export interface SettingType<T> {
  readonly schema: z.ZodType<T>;
  /** For programs that read of a wrong value. */
  readonly name: string;
  /** Completes "must be …". */
  readonly allowed: string;
  /** Completes "must be …" for one entry of a list or a map. */
  readonly allowedEntry?: string;
  /** All values there are, where they can be counted. */
  readonly choices?: readonly string[];
}

/** One of several words. */
export function choice<const T extends string>(...choices: readonly [T, ...T[]]): SettingType<T> {
  const allowed = `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`;
  return { schema: z.enum(choices), name: 'choice', allowed, choices };
}

/** A number may also be written as text (`"5000"`), as the first specification allowed; 15 digits are always exact. */
export function wholeNumber(least: number, most: number, pattern: RegExp): z.ZodType<number> {
  const number = z.int().min(least).max(most);
  const text = z
    .string()
    .regex(pattern)
    .transform(Number)
    .refine((value) => value >= least && value <= most);
  return z.union([number, text]);
}

export const environmentName = /^[A-Za-z_][A-Za-z0-9_]*$/;
const largest = 999_999_999_999_999;
const positive = wholeNumber(1, largest, /^\+?\d{1,15}$/);
const natural = wholeNumber(0, largest, /^\+?\d{1,15}$/);

export const text: SettingType<string> = { schema: z.string(), name: 'text', allowed: 'text' };

export const nonBlankText: SettingType<string> = {
  schema: z.string().regex(/\S/),
  name: 'non_blank_text',
  allowed: "text and can't be blank",
};

export const positiveInteger: SettingType<number> = {
  schema: positive,
  name: 'positive_integer',
  allowed: 'a whole number above 0',
};

export const naturalNumber: SettingType<number> = {
  schema: natural,
  name: 'natural_number',
  allowed: 'a whole number, 0 or more',
};

export const leaseTime: SettingType<number> = {
  schema: wholeNumber(3000, largest, /^\+?\d{1,15}$/),
  name: 'lease_time',
  allowed: 'a whole number, 3000 or more',
};

/** Millionths are the smallest part that is counted: a limit below one would be none. A limit this large is a mistake. */
const leastUsd = 0.000_001;
const mostUsd = 999_999_999;
const isUsd = (value: number): boolean => value === 0 || value >= leastUsd;

export const usdAmount: SettingType<number> = {
  schema: z.union([
    z.number().min(0).max(mostUsd).refine(isUsd),
    z
      .string()
      .regex(/^\+?\d{1,9}(?:\.\d{1,6})?$/)
      .transform(Number)
      .refine((value) => value <= mostUsd),
  ]),
  name: 'usd_amount',
  allowed: 'an amount of US dollars, 0 or at least 0.000001, such as 2.50',
};

export const anyInteger: SettingType<number> = {
  schema: wholeNumber(-largest, largest, /^[+-]?\d{1,15}$/),
  name: 'integer',
  allowed: 'a whole number',
};

export const portNumber: SettingType<number> = {
  schema: wholeNumber(0, 65_535, /^\+?\d{1,5}$/),
  name: 'port_number',
  allowed: 'a whole number from 0 to 65535',
};

export const flag: SettingType<boolean> = {
  schema: z.union([
    z.boolean(),
    z.enum(['true', 'false', '1', '0']).transform((word) => word === 'true' || word === '1'),
  ]),
  name: 'boolean',
  allowed: 'true or false',
};

export const textList: SettingType<string[]> = {
  schema: z.array(z.string()),
  name: 'text_list',
  allowed: 'a list of texts, such as `[Todo, In Progress]`',
  allowedEntry: 'text',
};

export const nameList: SettingType<string[]> = {
  schema: z.array(z.string().regex(/\S/)),
  name: 'name_list',
  allowed: 'a list of names, such as `[ada@example.org]`',
  allowedEntry: "a name and can't be blank",
};

export const environmentNames: SettingType<string[]> = {
  schema: z.array(z.string().regex(environmentName)),
  name: 'environment_names',
  allowed: 'a list of names of environment variables',
  allowedEntry: 'the name of an environment variable',
};

export const map: SettingType<Record<string, unknown>> = {
  schema: z.record(z.string(), z.unknown()),
  name: 'map',
  allowed: 'a map',
};

export const textOrMap: SettingType<string | Record<string, unknown>> = {
  schema: z.union([z.string(), z.record(z.string(), z.unknown())]),
  name: 'text_or_map',
  allowed: 'text or a map',
};

/** How the files of an issue come into its workspace. */
export const workspaceStrategy: SettingType<WorkspaceStrategy> = choice('worktree', 'clone', 'none');

export const timesByState: SettingType<Record<string, number>> = {
  schema: z.record(z.string().regex(/\S/), natural),
  name: 'times_by_state',
  allowed: 'a map from state names to whole numbers, 0 or more',
  allowedEntry: 'a state name that is not blank with a whole number, 0 or more',
};

export const limitsByState: SettingType<Record<string, number>> = {
  schema: z.record(z.string().regex(/\S/), positive),
  name: 'limits_by_state',
  allowed: 'a map from state names to whole numbers above 0',
  allowedEntry: 'a state name that is not blank with a whole number above 0',
};

export const pollingMode: SettingType<PollingSettings['mode']> = choice('fixed', 'adaptive');

/** A second is as often as anything that recurs has to be; events do not wait for it. */
export const jobInterval: SettingType<number> = {
  schema: wholeNumber(1000, largest, /^\+?\d{1,15}$/),
  name: 'job_interval',
  allowed: 'a whole number, 1000 or more',
};

const timeOfDay = String.raw`(?:[01]\d|2[0-3]):[0-5]\d`;
const minutesOfDay = 24 * 60;

export const quietHours: SettingType<Omit<QuietHours, 'timeZone'>> = {
  schema: z
    .string()
    .regex(new RegExp(`^${timeOfDay}-(?:${timeOfDay}|24:00)$`))
    .transform((written) => {
      const [fromMinute = 0, toMinute = 0] = written.split('-').map(minuteOf);
      return { fromMinute, toMinute };
    })
    .refine(({ fromMinute, toMinute }) => fromMinute !== toMinute % minutesOfDay),
  name: 'quiet_hours',
  allowed: 'two times of a 24-hour day that are not the same, such as "22:00-06:00"',
};

function minuteOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
}

export const timeZoneName: SettingType<string> = {
  schema: z.string().refine(isTimeZone),
  name: 'time_zone',
  allowed: 'the IANA name of a time zone, such as Europe/Berlin',
};

/** An offset such as `+02:00` would be a zone too, but wrong for half of the year in most places. */
function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return Intl.DateTimeFormat('en-US', { timeZone: name }) !== null;
  } catch {
    return false;
  }
}

export const requestAllowance: SettingType<RequestAllowance> = {
  schema: z.union([positive, z.record(z.string().regex(/\S/), positive)]),
  name: 'request_allowance',
  allowed: 'a whole number above 0, or a map from providers to such numbers',
  allowedEntry: 'the name of a provider with a whole number above 0',
};
