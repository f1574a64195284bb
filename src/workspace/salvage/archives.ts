import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from '../../core/logger.ts';
import { childEnvironment } from '../../process/child-environment.ts';
import { type RunResult, runToEnd } from '../../process/run-to-end.ts';
import type { ProcessDeps } from '../../process/start-child.ts';
import { hasCode, reasonOf } from '../file-system.ts';
import type { SalvageRequest, SavedWork } from './salvage.ts';
import { unsaved } from './salvage-errors.ts';
import { referencePart } from './saved-commits.ts';
import { issueNote } from './saved-note.ts';
import { flush, moveDurably, writeDurably } from './write-durably.ts';

/**
 * Workspaces that are not repositories, kept as tar files: `<key>/<run>.tar.gz` with `<run>.json` next to it, which is
 * written last. An archive without such a note is half made and does not count.
 */
export interface ArchiveParts extends ProcessDeps {
  readonly project: string;
  readonly folder: string;
  readonly daemonEnv: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
}

const tarTimeoutMs = 1_800_000;
const mostListBytes = 256 * 1024 * 1024;

export interface ArchiveContents {
  readonly entries: number;
  /** A file with their names, where they are not all that is in the folder: then its repositories are saved elsewhere. */
  readonly only?: string;
}

/** Archives a folder, and compares the archive with it. */
export async function saveArchive(
  request: SalvageRequest,
  { entries, only }: ArchiveContents,
  parts: ArchiveParts,
): Promise<SavedWork> {
  const { workspace, runId, folder, signal } = request;
  const key = referencePart(path.basename(workspace));
  const home = path.join(parts.folder, key);
  const there = (await listArchives(parts)).filter((work) => work.name.startsWith(`${key}/`));
  for (const earlier of there) {
    const isOurs = earlier.project === parts.project;
    if (isOurs && earlier.files === entries && (await isEqual(earlier.repository, request, entries, parts)))
      return earlier;
  }
  await mkdir(home, { recursive: true });
  const run = `${referencePart(runId ?? 'unknown')}${only === undefined ? '' : '+files'}`;
  const name = freeName(`${key}/${run}`, there);
  const members = only === undefined ? ['.'] : ['--no-recursion', '--null', `--files-from=${only}`];
  const file = path.join(parts.folder, `${name}.tar.gz`);
  const half = `${file}.new`;
  try {
    await tar(['--create', '--gzip', '--sparse', `--file=${half}`, `--directory=${folder}`, ...members], parts, signal);
    if (!(await isEqual(half, request, entries, parts)))
      throw unsaved('saved_incompletely', 'the archive differs from the workspace');
    await moveDurably(half, file);
  } catch (error) {
    await rm(half, { force: true });
    throw error;
  }
  const work: SavedWork = {
    name,
    kind: 'archive',
    project: parts.project,
    ...issueNote(request),
    within: '',
    savedAt: parts.clock.now(),
    repository: file,
    reference: null,
    commit: null,
    branch: null,
    head: null,
    files: entries,
    commits: 0,
    stagedFiles: 0,
    stagedOtherwise: 0,
  };
  await writeDurably(noteFile(file), `${JSON.stringify(work)}\n`);
  await flush(parts.folder);
  return work;
}

/** The archives of every project in this state folder. An entry without a project counts as this project's. */
export async function listArchives(parts: ArchiveParts): Promise<SavedWork[]> {
  const { folder, logger, project } = parts;
  const works: SavedWork[] = [];
  for (const key of await namesIn(folder)) {
    for (const name of (await namesIn(path.join(folder, key))).filter((each) => each.endsWith('.json'))) {
      const note = path.join(folder, key, name);
      const work = parse(await readFile(note, 'utf8'), project);
      // The folder may have been moved since.
      if (work !== null) works.push({ ...work, repository: note.replace(/\.json$/, '.tar.gz') });
      else logger.warn('archive_note_unreadable', { file: note });
    }
  }
  return works;
}

/** Its names, sizes and times. */
export async function listMembers(work: SavedWork, parts: ArchiveParts): Promise<string> {
  return (await tar(['--list', '--verbose', '--gzip', `--file=${work.repository}`], parts)).stdout;
}

export async function unpackArchive(work: SavedWork, folder: string, parts: ArchiveParts): Promise<void> {
  await tar(
    ['--extract', '--gzip', '--preserve-permissions', `--file=${work.repository}`, `--directory=${folder}`],
    parts,
  );
}

/** Deletes the note first: an archive without a note does not count. */
export async function dropArchive({ repository }: SavedWork): Promise<void> {
  await rm(noteFile(repository), { force: true });
  await rm(repository, { force: true });
}

/** Whether an archive holds what a folder holds: as many members, and each of them the same. */
async function isEqual(
  file: string,
  { folder, signal }: SalvageRequest,
  entries: number,
  parts: ArchiveParts,
): Promise<boolean> {
  const list = await tar(['--list', '--gzip', `--file=${file}`], parts, signal);
  // The folder itself is a member.
  if (list.stdout.split('\n').length - 1 !== entries + 1) return false;
  const compared = await run(['--compare', '--gzip', `--file=${file}`, `--directory=${folder}`], parts, signal);
  if (compared.code === 0 || compared.code === 1) return compared.code === 0;
  throw unsaved('archive_failed', `tar failed to compare the archive: ${reasonOf(compared.stderr.trim())}`);
}

async function tar(args: readonly string[], parts: ArchiveParts, signal?: AbortSignal): Promise<RunResult> {
  const result = await run(args, parts, signal);
  if (result.timedOut) throw unsaved('archive_failed', `tar took longer than ${tarTimeoutMs} ms`);
  if (result.code === 0 && !result.truncated) return result;
  throw unsaved('archive_failed', `tar failed: ${reasonOf(result.stderr.trim()) || `exit code ${result.code}`}`);
}

function run(args: readonly string[], parts: ArchiveParts, signal: AbortSignal | undefined): Promise<RunResult> {
  const request = {
    command: 'tar',
    args,
    cwd: '/',
    env: childEnvironment({ from: parts.daemonEnv, allow: ['PATH', 'TMPDIR', 'TZ'], deny: [], add: { LC_ALL: 'C' } }),
    runId: 'tar',
    timeoutMs: tarTimeoutMs,
    maxOutputBytes: mostListBytes,
    ...(signal === undefined ? {} : { signal }),
  };
  return runToEnd(request, { ...parts, containment: 'group_only' });
}

function freeName(wanted: string, there: readonly SavedWork[]): string {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? wanted : `${wanted}-${number}`;
    if (!there.some((work) => work.name === name)) return name;
  }
}

function noteFile(archive: string): string {
  return archive.replace(/\.tar\.gz$/, '.json');
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).toSorted();
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) return [];
    throw error;
  }
}

type FirstNote = Omit<SavedWork, 'project' | 'stagedFiles' | 'stagedOtherwise'>;

function parse(text: string, project: string): SavedWork | null {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || !('kind' in value) || value.kind !== 'archive') return null;
    // Only Baton writes in this folder. The first notes lack some fields.
    return { project, stagedFiles: 0, stagedOtherwise: 0, ...(value as FirstNote) };
  } catch {
    return null;
  }
}
