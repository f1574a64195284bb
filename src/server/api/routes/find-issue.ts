import { isMeantBy } from '../../../core/issue/issue.ts';
import type { ReadModel } from '../../../orchestrator/view/read-model.ts';
import type { ApiProject } from '../api-project.ts';
import type { Activities } from '../present/issue-activity.ts';
import { type IssueFacts, presentBoardIssue, presentNamedIssue, seenIssues } from '../present/present-issue.ts';

export interface FoundIssue {
  readonly facts: IssueFacts;
  /** Whether Baton knows more of the issue than its name. */
  readonly isSeen: boolean;
}

/** Finds an issue by its id, or by its identifier in upper or lower case. Null when Baton does not know it. */
export async function findIssue(
  project: ApiProject,
  reference: string,
  model: ReadModel,
  activities: Activities,
): Promise<FoundIssue | null> {
  const wanted = reference.trim();
  const onBoard = await findOnBoard(project, wanted);
  if (onBoard !== null) return { facts: presentBoardIssue(onBoard, activities), isSeen: true };
  const seen = seenIssues(model, activities).find((issue) => isMeantBy(issue, wanted));
  if (seen !== undefined) return { facts: seen, isSeen: seen.created_at !== null || seen.title !== seen.identifier };
  const ran = await findInRuns(project, wanted);
  return ran === null ? null : { facts: presentNamedIssue(ran, activities), isSeen: false };
}

/** The id of an issue, for callers that need nothing else. */
export async function findIssueId(project: ApiProject, reference: string): Promise<string | null> {
  const nothing: Activities = { of: () => ({ activity: null, skipped: null }), ids: [] };
  return (await findIssue(project, reference, project.read(), nothing))?.facts.id ?? null;
}

async function findOnBoard(project: ApiProject, wanted: string) {
  if (!project.describe().has_board) return null;
  const { id } = project;
  const { boardIssues } = project.tables;
  const [byId] = await boardIssues.readMany(id, [wanted]);
  if (byId !== undefined) return byId;
  for (const identifier of new Set([wanted, wanted.toUpperCase()])) {
    const found = await boardIssues.byIdentifier(id, identifier);
    if (found !== null) return found;
  }
  return null;
}

async function findInRuns({ tables, id }: ApiProject, wanted: string) {
  const run = await tables.runs.latestNamed(id, wanted);
  return run === null ? null : { id: run.issueId, identifier: run.identifier };
}
