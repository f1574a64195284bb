/** Who asked for a change: in history, comments and commands. */
export type Author =
  | { readonly kind: 'run'; readonly runId: string }
  | { readonly kind: 'orchestrator' }
  | { readonly kind: 'person'; readonly name: string };
