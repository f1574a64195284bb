import type { AdapterErrors } from './error-catalogue.ts';
import type { SettingTable } from './settings/setting.ts';

/**
 * The facts that `workflow/` needs about an agent backend to read its settings: `AgentBackend` has them, and
 * `daemon/adapters.ts` passes all of them in.
 */
export interface BackendProfile {
  /** As in `agent.backend`. */
  readonly name: string;
  /** The keys of its own; absent: it has none. */
  readonly settings?: BackendSettings;
  /** Environment variables that it gets from the daemon beyond the usual ones, exact or as `PREFIX_*`. */
  readonly environment: readonly string[];
  /** The variable that names the folder of an account; null where accounts have none. */
  readonly homeVariable: string | null;
  /** What it reports about its use of a model. */
  readonly reports: UsageReports;
  /** The errors that it raises beyond those of the catalogue. */
  readonly errors?: AdapterErrors;
}

/** Money, tokens alone, or what its program chooses to report, which may be nothing. */
export type UsageReports = 'cost' | 'tokens' | 'if_told';

export interface BackendSettings {
  /** Where the keys stand in the file: a section of its own, or `agent`. */
  readonly section: string;
  /** `Settings.backends` has their values under the name of the backend, as `Section` of these rows. */
  readonly keys: SettingTable;
  /** Other spellings, as dotted keys: `{'<section>.<name>': 'agent.<name>'}`. The key of `agent` wins. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** Defaults of other keys that follow from a value of its own. */
  readonly implied?: readonly ImpliedDefault[];
}

/** While `when` is `is`, the default of `key` is `value`. Keys are dotted. */
export interface ImpliedDefault {
  readonly key: string;
  readonly value: string | number;
  readonly when: string;
  readonly is: string;
}
