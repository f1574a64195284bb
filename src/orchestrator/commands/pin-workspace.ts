import { BatonError } from '../../core/baton-error.ts';
import { type CommandAnswer, done, refused } from '../../core/command/command-answers.ts';
import { isMeantBy } from '../../core/issue/issue.ts';
import type { Command } from '../../store/tables/commands.ts';
import type { IssueName } from '../claims/claim.ts';
import type { BaseParts } from '../parts.ts';

export type PinParts = Pick<BaseParts, 'clock' | 'project' | 'source' | 'store' | 'trackerFor'>;

/** Pins the workspace of an issue, so that it stays however long ago its issue finished, or unpins it. */
export async function pinWorkspace(
  parts: PinParts,
  { payload, author }: Command,
  kind: 'workspace_pin' | 'workspace_unpin',
): Promise<CommandAnswer> {
  const { store, project, clock } = parts;
  if (typeof payload.issue !== 'string') return refused('no_issue_named', 'The command names no issue.');
  const { id: issueId, identifier } = await findIssue(parts, payload.issue);
  const data = { issue_id: issueId, issue_identifier: identifier, pinned: kind === 'workspace_pin' };
  if (kind === 'workspace_pin') {
    await store.pins.put({ project, issueId, identifier, since: clock.now(), author });
    return done('workspace_pinned', `The workspace of ${identifier} stays until it is unpinned.`, data);
  }
  if (await store.pins.remove({ project, issueId }))
    return done('workspace_unpinned', `The workspace of ${identifier} is no longer pinned.`, data);
  return refused('not_pinned', `The workspace of ${identifier} is not pinned.`, data);
}

/** Finds an issue that is pinned, that had a run, or that the tracker knows by its id. */
async function findIssue({ store, project, source, trackerFor }: PinParts, name: string): Promise<IssueName> {
  const pinned = (await store.pins.list(project)).map(({ issueId: id, identifier }) => ({ id, identifier }));
  const meant = pinned.find((issue) => isMeantBy(issue, name));
  if (meant !== undefined) return meant;
  const ran = await store.runs.latestNamed(project, name);
  if (ran !== null) return { id: ran.issueId, identifier: ran.identifier };
  const caller = { job: 'workspace_pin', cause: 'person' } as const;
  const [asked] = await trackerFor(source.read().workflow.settings).fetchByIds([name.trim()], { caller });
  if (asked !== undefined) return asked;
  throw new BatonError(
    'tracker_issue_not_found',
    `Baton knows no run of an issue "${name}", and no issue with that id.`,
    {
      nextStep: 'Run `baton workspace list` to see what is there.',
    },
  );
}
