import type { Found } from '../../../src/client/schema/system.ts';

export type FoundResult = Found['results'][number];

/** The hits about one issue: in itself, and in the words of its agents. */
export interface FoundGroup {
  readonly key: string;
  readonly project: string;
  readonly identifier: string;
  readonly title: string | null;
  readonly inIssue: readonly FoundResult[];
  readonly inRuns: readonly FoundResult[];
}

/** Groups the hits by issue. The first found comes first; nothing is left out. */
export function groupFound(
  answers: readonly { readonly project: string; readonly value: Found | null }[],
): readonly FoundGroup[] {
  const groups = new Map<string, FoundGroup>();
  for (const { project, value } of answers) {
    for (const result of value?.results ?? []) {
      const key = `${project}/${result.issue_id}`;
      const before = groups.get(key) ?? emptyGroup(key, project, result);
      const list = result.kind === 'issue' ? 'inIssue' : 'inRuns';
      groups.set(key, { ...before, title: before.title ?? result.title, [list]: [...before[list], result] });
    }
  }
  return [...groups.values()];
}

function emptyGroup(key: string, project: string, { issue_identifier, title }: FoundResult): FoundGroup {
  return { key, project, identifier: issue_identifier, title, inIssue: [], inRuns: [] };
}
