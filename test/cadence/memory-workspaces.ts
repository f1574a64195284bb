import type { Workspaces } from '../../src/workspace/workspace.ts';

/** Workspaces that are only names. Each examination finds a change, as after an agent that works. */
export function memoryWorkspaces(now: () => number): Workspaces {
  const made = new Map<string, number>();
  const pathOf = (identifier: string): string => `/workspaces/${identifier}`;
  let looks = 0;
  return {
    pathOf,
    prepare: async ({ issue }) => {
      const path = pathOf(issue.identifier);
      const created = !made.has(path);
      made.set(path, now());
      return { path, created, gitDir: null };
    },
    beforeRun: async () => {},
    keepOut: async () => {},
    readFile: async () => ({ why: 'there are no files' }),
    verify: async () => {},
    commitRest: async () => null,
    afterRun: async () => null,
    bringHome: async () => null,
    isThere: async (path) => made.has(path),
    remove: async ({ path }) => (made.delete(path) ? { outcome: 'removed', saved: [] } : { outcome: 'absent' }),
    finishRemovals: async () => {},
    examine: async () => {
      looks += 1;
      return { fingerprint: String(looks), git: null };
    },
    list: async () =>
      [...made].map(([path, changedAt]) => ({
        key: path.slice(pathOf('').length),
        path,
        state: 'whole',
        bytes: null,
        changedAt,
      })),
  };
}
