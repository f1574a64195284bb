import type { Publication } from '../../src/core/run/run-evidence.ts';
import type { Removal, WorkspaceEntry, WorkspaceFacts, Workspaces } from '../../src/workspace/workspace.ts';

/** Workspaces that only record calls. Removed ones are no longer listed. */
export function fakeWorkspaces() {
  const removed: string[] = [];
  const broughtHome: string[] = [];
  /** What there is to list. */
  const entries: WorkspaceEntry[] = [];
  const answers = {
    removal: { outcome: 'removed', saved: [] } as Removal,
    /** For single paths. */
    removals: new Map<string, Removal | Error>(),
    publication: null as Publication | null,
    facts: null as WorkspaceFacts | null,
    wait: Promise.resolve() as Promise<unknown>,
  };
  const never = (): never => {
    throw new Error('this scene has no files');
  };
  const as: Workspaces = {
    prepare: never,
    beforeRun: never,
    keepOut: never,
    readFile: never,
    verify: never,
    commitRest: never,
    afterRun: never,
    bringHome: async (path) => {
      broughtHome.push(path);
      return answers.publication;
    },
    pathOf: (identifier) => `/workspaces/${identifier}`,
    remove: async ({ path }) => {
      await answers.wait;
      removed.push(path);
      const answer = answers.removals.get(path) ?? answers.removal;
      if (answer instanceof Error) throw answer;
      const at = entries.findIndex((entry) => entry.path === path);
      if (answer.outcome === 'removed' && at >= 0) entries.splice(at, 1);
      return answer;
    },
    isThere: async () => true,
    finishRemovals: async () => {},
    examine: async () => answers.facts,
    list: async () => [...entries],
  };
  return { as, removed, broughtHome, entries, answers };
}
