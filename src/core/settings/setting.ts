import type { ErrorCode } from '../error-catalogue.ts';
import type { NotifyEvent } from '../notify/notify-cause.ts';
import type { Phase } from '../pipeline/phase.ts';

/**
 * The types of values a key may have, by name, with the TypeScript type of the value once it is read.
 * `workflow/table/setting-types.ts` has the schema and the words of each.
 */
export interface SettingTypes {
  readonly text: string;
  readonly non_blank_text: string;
  /** Shell text; null where it is blank and so does nothing. */
  readonly script: string | null;
  readonly text_list: readonly string[];
  readonly name_list: readonly string[];
  readonly environment_names: readonly string[];
  readonly path_list: readonly string[];
  readonly boolean: boolean;
  readonly integer: number;
  readonly natural_number: number;
  readonly positive_integer: number;
  readonly percentage: number;
  readonly port_number: number;
  readonly lease_time: number;
  readonly job_interval: number;
  readonly usd_amount: number;
  readonly map: Readonly<Record<string, unknown>>;
  readonly text_or_map: string | Readonly<Record<string, unknown>>;
  readonly times_by_state: Readonly<Record<string, number>>;
  readonly limits_by_state: Readonly<Record<string, number>>;
  readonly names_by_state: Readonly<Record<string, string>>;
  readonly quiet_hours: WrittenQuietHours;
  readonly time_zone: string;
  readonly request_allowance: RequestAllowance;
  readonly account_list: readonly WrittenAccount[];
  readonly agent_table: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly price_table: Readonly<Record<string, TokenPrice>>;
  readonly check_list: readonly ReviewCheck[];
  readonly phase_list: readonly Phase[];
  readonly target_list: readonly WrittenTarget[];
}

/** One of several words. */
export interface Choice<T extends string = string> {
  readonly choices: readonly T[];
}

export function choice<const T extends string>(...choices: readonly T[]): Choice<T> {
  return { choices };
}

/** When an edit of a key takes effect. `never`: the key has no effect in this version. */
export type TakesEffect =
  | 'at once'
  | 'next tick'
  | 'next poll'
  | 'next request'
  | 'next renewal'
  | 'next message'
  | 'next run'
  | 'end of a run'
  | 'next retry'
  | 'next new workspace'
  | 'next new branch'
  | 'next removal'
  | 'restart'
  | 'never';

/**
 * Whether an edit of a key takes effect by itself. A `guarded` key decides where secrets go, what runs or whom Baton
 * trusts: if an agent could have made the edit, it waits for a person (`baton reload`). `guarded_upwards` is
 * for limits: only a higher value waits; 0 or less means no limit, so it is the highest.
 */
export type EditGuard = 'open' | 'guarded' | 'guarded_upwards';

/**
 * One key of the front matter: the only place that says its type, default, meaning and when an edit takes effect. Reading,
 * `baton validate`, `baton schema` and the tables of docs/configuration.md come from it. `V` is the value that is read.
 */
export interface Setting<V = unknown> {
  readonly type: keyof SettingTypes | Choice;
  readonly default: V;
  /** For people, in Markdown. */
  readonly description: string;
  readonly takesEffect: TakesEffect;
  readonly guard: EditGuard;
  /** The default in words, in Markdown, where it is not a constant. */
  readonly defaultText?: string;
  /** A bad value is never printed. */
  readonly mayHoldSecret?: true;
  /** The key of a backend that cannot start without it. */
  readonly required?: true;
  /** The code of a bad or missing value, where it is not `invalid_workflow_config`. */
  readonly code?: ErrorCode;
  /** Why the key has no effect in this version. An error keeps the file from being used; a warning does not. */
  readonly unsupported?: { readonly severity: 'error' | 'warning'; readonly because: string };
}

type Type = keyof SettingTypes | Choice;
type ValueOf<T extends Type> = T extends keyof SettingTypes ? SettingTypes[T] : T extends Choice<infer C> ? C : never;
type Rest = Omit<Setting, 'type' | 'default' | 'takesEffect' | 'guard'>;

export function setting<T extends Type>(
  type: T,
  byDefault: ValueOf<T>,
  takesEffect: TakesEffect,
  guard: EditGuard,
  rest: Rest,
): Setting<ValueOf<T>>;
export function setting<T extends Type>(
  type: T,
  byDefault: null,
  takesEffect: TakesEffect,
  guard: EditGuard,
  rest: Rest,
): Setting<ValueOf<T> | null>;
export function setting(
  type: Type,
  byDefault: unknown,
  takesEffect: TakesEffect,
  guard: EditGuard,
  rest: Rest,
): Setting {
  return { type, default: byDefault, takesEffect, guard, ...rest };
}

/** The keys of a section by name; a section may hold others. */
export interface SettingTable {
  readonly [name: string]: Setting | SettingTable;
}

/** A section as rules read it: its keys in camel case, each with the value of its row. */
export type Section<R extends SettingTable> = {
  readonly [K in keyof R & string as CamelCase<K>]: R[K] extends Setting<infer V>
    ? V
    : R[K] extends SettingTable
      ? Section<R[K]>
      : never;
};

/** A section whose fields `C` differ from those in the file, or are added: `workflow/resolve/` makes them. */
export type Resolved<R extends SettingTable, C> = Omit<Section<R>, keyof C> & Readonly<C>;

type CamelCase<S extends string> = S extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : S;

/** Minutes of the day; the end before the beginning is across midnight, and they are never the same. */
export interface WrittenQuietHours {
  readonly fromMinute: number;
  readonly toMinute: number;
}

/** One number for every provider, or numbers by the provider's name; one that is not named has no limit. */
export type RequestAllowance = number | Readonly<Record<string, number>>;

/** An account as the file has it: references are not resolved yet. */
export interface WrittenAccount {
  readonly name: string;
  readonly backend?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly home?: string | undefined;
}

/** A command of `review.checks`. */
export interface ReviewCheck {
  readonly name: string;
  /** Shell text. */
  readonly run: string;
  /** Null: `review.check_timeout_ms`. */
  readonly timeoutMs: number | null;
}

/** US dollars for a million tokens. */
export interface TokenPrice {
  readonly input: number;
  /** Null: as `input`. */
  readonly cachedInput: number | null;
  readonly output: number;
}

interface WrittenAddress {
  readonly url: string;
  readonly events?: readonly NotifyEvent[] | undefined;
  readonly allow_insecure_endpoint?: boolean | undefined;
}

/** A target of notifications as the file has it: references are not resolved yet. */
export type WrittenTarget =
  | ({ readonly kind: 'webhook'; readonly secret: string } & WrittenAddress)
  | ({ readonly kind: 'slack' } & WrittenAddress)
  | { readonly kind: 'command'; readonly run: string; readonly events?: readonly NotifyEvent[] | undefined };
