import type { Removal, Workspaces } from '../../src/workspace/workspace.ts';

/** Workspaces that only write down what is asked of them. */
export function fakeWorkspaces() {
  const removed: string[] = [];
  const answers = { removal: { outcome: 'removed' } as Removal, wait: Promise.resolve() as Promise<unknown> };
  const never = (): never => {
    throw new Error('this scene has no files');
  };
  const as: Workspaces = {
    prepare: never,
    beforeRun: never,
    afterRun: never,
    pathOf: (identifier) => `/workspaces/${identifier}`,
    remove: async ({ path }) => {
      await answers.wait;
      removed.push(path);
      return answers.removal;
    },
    isThere: async () => true,
    finishRemovals: async () => {},
    fingerprint: async () => null,
  };
  return { as, removed, answers };
}
