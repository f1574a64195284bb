import type { Kysely } from 'kysely';
import type { Author } from '../../../core/issue/author.ts';
import type { Lesson, LessonKind } from '../../../core/learning/lesson.ts';
import { authorFrom, fromJsonText } from '../../json.ts';
import type { Database } from '../../schema.ts';

/** A lesson with the id of its issue. */
export interface FoundLesson extends Lesson {
  readonly issueId: string;
}

/** What happened in a project since then that may teach something: failed runs, work that came back, words of people. */
export async function lessonsSince(
  db: Kysely<Database>,
  project: string,
  since: number,
  limit: number,
): Promise<readonly FoundLesson[]> {
  const found = [
    ...(await failedRuns(db, project, since, limit)),
    ...(await words(db, project, since, limit)),
    ...(await artifacts(db, project, since, limit)),
  ].toReversed();
  const names = await namesOf(db, project, [...new Set(found.map(({ issueId }) => issueId))]);
  return found
    .map((each) => ({ ...each, issue: names.get(each.issueId) ?? each.issueId }))
    .toSorted((one, other) => one.at - other.at);
}

type Found = Omit<FoundLesson, 'issue'>;

/** Of the agent itself: a stop by a person or a restart teaches nothing. */
async function failedRuns(db: Kysely<Database>, project: string, since: number, limit: number): Promise<Found[]> {
  const rows = await db
    .selectFrom('runs')
    .select(['issue_id', 'ended_at', 'error_code', 'error_message'])
    .where('project', '=', project)
    .where('role', 'in', ['worker', 'phase'])
    .where('outcome', 'in', ['failed', 'timed_out', 'stalled'])
    .where('turns', '>', 0)
    .where('ended_at', '>', since)
    .orderBy('ended_at', 'desc')
    .limit(limit)
    .execute();
  return rows.map(({ issue_id: issueId, ended_at: at, error_code: code, error_message: message }) => ({
    issueId,
    kind: 'failed_run',
    at: at ?? 0,
    by: 'baton',
    words: `${code}: ${message ?? ''}`,
  }));
}

/** Messages to agents: notes and reasons of people, findings of judges and reviewers, red checks. A conflict teaches nothing. */
async function words(db: Kysely<Database>, project: string, since: number, limit: number): Promise<Found[]> {
  const rows = await db
    .selectFrom('messages')
    .select(['issue_id', 'at', 'kind', 'author_json', 'body', 'path'])
    .where('project', '=', project)
    .where('at', '>', since)
    .where('kind', '!=', 'conflict')
    .orderBy('at', 'desc')
    .orderBy('seq', 'desc')
    .limit(limit)
    .execute();
  return rows.map(({ issue_id: issueId, at, kind, author_json: author, body, path }) => {
    const lesson: LessonKind = kind === 'check' ? 'check' : kind === 'note' ? 'note' : 'rejected';
    return {
      issueId,
      kind: lesson,
      at,
      by: nameOf(authorFrom(author)),
      words: path === null ? body : `${path}: ${body}`,
    };
  });
}

/** Artifacts of phases that were sent back, with the reasons. */
async function artifacts(db: Kysely<Database>, project: string, since: number, limit: number): Promise<Found[]> {
  const rows = await db
    .selectFrom('completion_claims')
    .select(['issue_id', 'phase', 'decided_at', 'reasons_json'])
    .where('project', '=', project)
    .where('state', '=', 'revise')
    .where('decided_at', '>', since)
    .orderBy('decided_at', 'desc')
    .limit(limit)
    .execute();
  return rows.map(({ issue_id: issueId, phase, decided_at: at, reasons_json: reasons }) => {
    const said = fromJsonText(reasons);
    const why = Array.isArray(said) ? said.join('; ') : '';
    return { issueId, kind: 'rejected', at: at ?? 0, by: 'baton', words: `The artifact of the phase ${phase}: ${why}` };
  });
}

function nameOf(author: Author): string {
  if (author.kind === 'person') return author.name;
  return author.kind === 'run' ? 'agent' : 'baton';
}

async function namesOf(
  db: Kysely<Database>,
  project: string,
  issueIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (issueIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('runs')
    .select(['issue_id', 'identifier'])
    .distinct()
    .where('project', '=', project)
    .where('issue_id', 'in', [...issueIds])
    .execute();
  return new Map(rows.map(({ issue_id: issueId, identifier }) => [issueId, identifier]));
}
