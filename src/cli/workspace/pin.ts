import { systemClock } from '../../clock/system-clock.ts';
import { BatonError } from '../../core/baton-error.ts';
import { isMeantBy } from '../../core/issue/issue.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { openWorkplace, type Workplace } from '../../daemon/workplace.ts';
import { exitCodes } from '../exit-codes.ts';
import { jsonLine } from '../json-line.ts';
import type { WorkspaceFlags } from './list.ts';
import { trackerOf } from './read-workspaces.ts';

interface PinFlags extends WorkspaceFlags {
  readonly as?: string;
}

interface NamedIssue {
  readonly id: string;
  readonly identifier: string;
}

/** `baton workspace pin`: the workspace of an issue stays, however long ago its issue finished. */
export async function pin(name: string, flags: PinFlags, surroundings: Surroundings): Promise<number> {
  await using workplace = await openWorkplace(flags, surroundings);
  const { store, project } = workplace;
  const issue = await findIssue(workplace, name);
  const author = { kind: 'person', name: flags.as ?? surroundings.userName } as const;
  const { id: issueId, identifier } = issue;
  await store.pins.put({ project: project.id, issueId, identifier, since: systemClock.now(), author });
  return report(issue, true, flags, surroundings);
}

/** `baton workspace unpin`. */
export async function unpin(name: string, flags: PinFlags, surroundings: Surroundings): Promise<number> {
  await using workplace = await openWorkplace(flags, surroundings);
  const { store, project } = workplace;
  const issue = await findIssue(workplace, name);
  if (!(await store.pins.remove({ project: project.id, issueId: issue.id })))
    throw new BatonError('command_refused', `The workspace of ${harmlessLine(issue.identifier)} is not pinned.`);
  // Its time may be over already.
  await workplace.wake();
  return report(issue, false, flags, surroundings);
}

function report({ id, identifier }: NamedIssue, pinned: boolean, { json }: PinFlags, { stdout }: Surroundings): number {
  const text = pinned ? 'stays until it is unpinned' : 'is not pinned any more';
  const line = `the workspace of ${harmlessLine(identifier)} ${text}\n`;
  stdout.write(json ? jsonLine({ issue_id: id, issue_identifier: identifier, pinned }) : line);
  return exitCodes.ok;
}

/** Finds an issue that is pinned, that had a run, or that the tracker knows by its id. */
async function findIssue(workplace: Workplace, name: string): Promise<NamedIssue> {
  const { store, project } = workplace;
  const pinned = (await store.pins.list(project.id)).map(({ issueId: id, identifier }) => ({ id, identifier }));
  const meant = pinned.find((issue) => isMeantBy(issue, name));
  if (meant !== undefined) return meant;
  const ran = await store.runs.latestNamed(project.id, name);
  if (ran !== null) return { id: ran.issueId, identifier: ran.identifier };
  const [asked] = await trackerOf(workplace).fetchByIds([name.trim()], {
    caller: { job: 'workspace_pin', cause: 'person' },
  });
  if (asked !== undefined) return asked;
  throw new BatonError('tracker_issue_not_found', `No run of an issue "${name}" is known, and no issue of that id.`, {
    nextStep: 'Run `baton workspace list` to see what is there.',
  });
}
