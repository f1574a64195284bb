import { rmSync } from 'node:fs';
import path from 'node:path';
import { systemChance } from '../../src/clock/system-chance.ts';
import { systemClock } from '../../src/clock/system-clock.ts';
import type { PullRequest } from '../../src/core/pull/pull-request.ts';
import { localHost } from '../../src/pulls/local/local-host.ts';
import type { MergeRequest, OpenedChange, PullRequests } from '../../src/pulls/pull-requests.ts';
import { createGit, type Git } from '../../src/workspace/git/git.ts';
import { gitPlaces } from '../../src/workspace/git/git-places.ts';
import { committing, git, gits, scratchRepository, writeFiles } from '../workspace/git/scratch-repository.ts';
import { scratchFolder } from '../workspace/scratch-folder.ts';

export const branch = 'baton/t-1';

/** A local repository of a person, whose `main` no worktree has checked out, and the host of its pull requests. */
export interface PullScene {
  readonly folder: string;
  readonly source: string;
  /** A clone in which people and agents commit; they push from there. */
  readonly desk: string;
  readonly pulls: PullRequests;
  readonly git: Git;
  /** The commit of a branch in the repository; null when it is gone. */
  tip(name: string): string | null;
  /** Commits files on a branch, which begins at `main` when it is new, and pushes it. */
  push(name: string, files: Readonly<Record<string, string>>, message?: string): string;
  /** Any git command of a person in the clone, on a branch, pushed afterwards. */
  onBranch(name: string, ...commands: readonly (readonly string[])[]): string;
}

export function pullScene(
  options: { readonly sourceOptions?: readonly string[]; readonly git?: (real: Git) => Git } = {},
): PullScene {
  const folder = scratchFolder();
  const source = scratchRepository(path.join(folder, 'source'), options.sourceOptions);
  const desk = path.join(folder, 'desk');
  gits(
    source,
    ['config', 'user.name', 'Ada Person'],
    ['config', 'user.email', 'ada@example.invalid'],
    ['checkout', '-q', '--detach'],
    ['clone', '-q', source, desk],
  );
  const daemonEnv = { PATH: process.env.PATH, HOME: path.join(folder, 'home') };
  const containment = 'marker_sweep' as const;
  const plain = createGit({ clock: systemClock, containment, daemonId: systemChance.id(), daemonEnv });
  const real = options.git?.(plain) ?? plain;
  const repo = { location: source, shown: source, isLocal: true };
  const pulls = localHost.create({ repo, git: real, places: gitPlaces(path.join(folder, 'state')) });
  const tip = (name: string): string | null => {
    const found = git(source, 'for-each-ref', '--format=%(objectname)', `refs/heads/${name}`);
    return found === '' ? null : found;
  };
  const ontoBranch = (name: string): readonly (readonly string[])[] => [
    ['fetch', '-q', '--prune', 'origin'],
    ['checkout', '-q', '-B', name, tip(name) ?? tip('main') ?? ''],
  ];
  const pushing = (name: string, ...how: readonly string[]) => [
    'push',
    '-q',
    ...how,
    'origin',
    `HEAD:refs/heads/${name}`,
  ];
  const onBranch = (name: string, ...commands: readonly (readonly string[])[]): string =>
    gits(desk, ...ontoBranch(name), ...commands, pushing(name, '--force'), ['rev-parse', 'HEAD']);
  const push = (name: string, files: Readonly<Record<string, string>>, message?: string): string => {
    gits(desk, ...ontoBranch(name));
    writeFiles(desk, files);
    return gits(desk, ...committing(message), pushing(name, '--force'));
  };
  return { folder, source, desk, pulls, git: real, tip, push, onBranch };
}

/** Removes the clone, so that only the repository has the objects. */
export function leaveDesk({ desk }: PullScene): void {
  rmSync(desk, { recursive: true });
}

/** Baton's record of an opened change. */
export function pullOf(opened: OpenedChange, over: Partial<PullRequest> = {}): PullRequest {
  return {
    project: 'p',
    number: 3,
    issueId: 'i1',
    identifier: 'T-1',
    title: 'Say hello',
    body: 'More words.',
    host: 'here',
    repository: '/repository',
    branch,
    base: 'main',
    ...opened,
    openedAt: 1,
    openedBy: { kind: 'run', runId: 'r1' },
    standingSince: 1,
    movedAt: 1,
    sentBack: null,
    timesSentBack: 0,
    approved: null,
    merged: null,
    closed: null,
    ...over,
  };
}

export function mergeOf(pull: PullRequest, over: Partial<MergeRequest> = {}): MergeRequest {
  const { headCommit, baseCommit } = pull;
  return {
    headCommit,
    baseCommit,
    method: 'merge',
    by: { kind: 'person', name: 'Ada' },
    at: 1_700_000_000_000,
    ...over,
  };
}
