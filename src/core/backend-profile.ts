/**
 * What `workflow/` has to know of an agent backend to check the `agent` section: a backend exports one, `cli/` hands all
 * of them in.
 */
export interface BackendProfile {
  /** As in `agent.backend`. */
  readonly name: string;
  /** Settings without which the backend cannot start, as dotted keys such as `agent.command`. */
  readonly requiredKeys: readonly string[];
}
