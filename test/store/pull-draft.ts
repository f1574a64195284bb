import type { PullDraft } from '../../src/store/tables/pulls/pull-requests.ts';
import { project } from '../conformance/store.ts';

/** A pull request of an issue, with made-up commits. */
export function pullDraft(issueId: string, over: Partial<PullDraft> = {}): PullDraft {
  return {
    project,
    issueId,
    identifier: `T-${issueId}`,
    title: `Change of ${issueId}`,
    body: '',
    host: 'somewhere',
    hostNumber: null,
    url: null,
    repository: '/repository',
    branch: `work/${issueId}`,
    base: 'main',
    baseCommit: 'base-1',
    headCommit: 'head-1',
    at: 10,
    by: { kind: 'run', runId: `run of ${issueId}` },
    ...over,
  };
}
