/**
 * What `workflow/` has to know of an agent backend to check the `agent` section: a backend exports one, `cli/` hands all
 * of them in.
 */
export interface BackendProfile {
  /** As in `agent.backend`. */
  readonly name: string;
  /** Settings without which the backend cannot start, as dotted keys such as `agent.command`. */
  readonly requiredKeys: readonly string[];
  /** Environment variables that it gets from the daemon beyond the usual ones, exact or as `PREFIX_*`. */
  readonly environment: readonly string[];
  /** The variable that names the folder of an account, such as `CODEX_HOME`; null where accounts have none. */
  readonly homeVariable: string | null;
}
