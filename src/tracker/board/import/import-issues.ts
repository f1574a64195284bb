import type { StoreTables } from '../../../store/store.ts';
import type { BoardIssue } from '../../../store/tables/board-issues.ts';
import type { BoardParts } from '../board-parts.ts';
import { boardOwner, firstStatuses } from '../board-transitions.ts';
import { readFacts } from '../change-issue.ts';
import { type ChangeStamp, createdEntry } from '../history-entries.ts';
import { type ChangeBy, changeBy, checked } from '../issue-fields.ts';
import { requireIssue } from '../require-issue.ts';
import type { ImportEntry, ImportProblem } from './import-entry.ts';
import { type ImportTarget, resolveLinks } from './import-links.ts';
import { refuseImport } from './read-import.ts';

export interface Imported {
  readonly created: readonly BoardIssue[];
  /** Issues whose keys the board already had; left unchanged. */
  readonly known: readonly BoardIssue[];
}

/**
 * Creates all issues of a file or none, in the order of the file, then links them. Their history begins after the links
 * exist, so that its first entry is the whole issue as it was imported.
 */
export async function importIssues(
  parts: BoardParts,
  entries: readonly ImportEntry[],
  by: ChangeBy,
): Promise<Imported> {
  const { author, reason } = checked(changeBy, by, 'change');
  const { links, problems } = resolveLinks(entries);
  const allowed = firstStatuses(boardOwner(author));
  const tooFar = entries.filter(({ status }) => !allowed.includes(status));
  const statusProblems = tooFar.map(({ line, status }) => {
    const message = `status must be ${allowed.join(' or ')}`;
    return { line, problem: 'status_not_allowed', status, allowed, message } as const;
  });
  refuseImport([...problems, ...statusProblems]);

  const imported = await parts.store.transaction(async (tables) => {
    await tables.boardIssues.lock(parts.project);
    const stamp: ChangeStamp = { author, reason, at: parts.clock.now() };
    const onBoard = await readTargets(parts, tables, entries, (entry) => {
      const { parent = null, blockers = [] } = links.get(entry) ?? {};
      return parent === null ? blockers : [parent, ...blockers];
    });
    const made = new Map<ImportEntry, { issue: BoardIssue; created: boolean }>();
    for (const entry of entries) made.set(entry, await create(parts, tables, entry, stamp));
    const idOf = (target: ImportTarget): string =>
      // Both maps hold every target: missing targets were refused above.
      (target.kind === 'entry' ? made.get(target.entry)?.issue.id : onBoard.get(target.identifier)?.id) ?? '';

    const created: BoardIssue[] = [];
    for (const [entry, { issue, created: isNew }] of made) {
      if (!isNew) continue;
      const { parent = null, blockers = [] } = links.get(entry) ?? {};
      const parentId = parent === null ? null : idOf(parent);
      created.push(await link(parts, tables, issue.id, { parentId, blockerIds: blockers.map(idOf) }, stamp));
    }
    const known = [...made.values()].filter((each) => !each.created).map(({ issue }) => issue);
    return { created, known };
  });
  if (imported.created.length > 0) parts.onChange();
  return imported;
}

/** The issues on the board that the file names; a missing one is a problem of its line. */
async function readTargets(
  parts: BoardParts,
  tables: StoreTables,
  entries: readonly ImportEntry[],
  targetsOf: (entry: ImportEntry) => readonly ImportTarget[],
): Promise<ReadonlyMap<string, BoardIssue>> {
  const found = new Map<string, BoardIssue | null>();
  const problems: ImportProblem[] = [];
  for (const entry of entries) {
    for (const target of targetsOf(entry)) {
      if (target.kind !== 'identifier') continue;
      const { identifier } = target;
      const issue = found.get(identifier) ?? (await tables.boardIssues.byIdentifier(parts.project, identifier));
      found.set(identifier, issue);
      const message = `"${identifier}" is neither a key or title in this file nor an identifier on the board`;
      if (issue === null) problems.push({ line: entry.line, problem: 'unknown_issue', name: identifier, message });
    }
  }
  refuseImport(problems);
  return new Map([...found].filter((each): each is [string, BoardIssue] => each[1] !== null));
}

function create(
  { project, prefix, chance }: BoardParts,
  tables: StoreTables,
  { title, description, status, priority, labels, branch, url, key }: ImportEntry,
  { at }: ChangeStamp,
): Promise<{ issue: BoardIssue; created: boolean }> {
  const fields = { title, description, status, priority, labels, branch, url };
  const draft = { ...fields, id: chance.id(), prefix, parentId: null, blockerIds: [], clientKey: key };
  return tables.boardIssues.create(project, draft, at);
}

async function link(
  { project }: BoardParts,
  tables: StoreTables,
  issueId: string,
  { parentId, blockerIds }: { parentId: string | null; blockerIds: readonly string[] },
  stamp: ChangeStamp,
): Promise<BoardIssue> {
  const key = { project, issueId };
  if (parentId !== null) await tables.boardIssues.update(key, { parentId }, stamp.at);
  for (const blockerId of new Set(blockerIds)) await tables.boardIssues.addBlocker(key, blockerId);
  const issue = await requireIssue(tables, project, issueId);
  await tables.boardHistory.add(key, createdEntry(await readFacts(tables, project, issue), stamp));
  return issue;
}
