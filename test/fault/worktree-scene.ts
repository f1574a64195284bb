import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import type { LogEvent } from '../../src/core/log-events.ts';
import { answer, stateFolderOf } from '../cli/live-daemon.ts';
import { jsonLines, Place, type RunningBaton } from '../cli/run-baton.ts';
import { git, scratchRepository } from '../workspace/git/scratch-repository.ts';
import { patiently } from './patience.ts';
import { leftIn } from './process-watch.ts';
import { type Row, readStore } from './store-file.ts';

export interface WorktreeOptions {
  /** Lines of the front matter below `workspace:`. */
  readonly workspace?: readonly string[];
  readonly agent?: readonly string[];
  readonly hooks?: readonly string[];
  /** More lines of the front matter. */
  readonly more?: readonly string[];
  /** More for the environment of the daemon. */
  readonly env?: Record<string, string>;
}

/**
 * A board, a repository of a person, and agents that each run a shell script. The scripts, and the files that record their
 * work, are outside every workspace.
 */
export class WorktreeScene implements Disposable {
  readonly place: Place;
  /** The person's repository. */
  readonly source: string;
  readonly workspaces: string;
  #filed = 0;

  constructor(options: WorktreeOptions = {}) {
    this.place = new Place(options.env ?? {});
    this.workspaces = path.join(this.place.folder, 'workspaces');
    this.source = scratchRepository(path.join(this.place.folder, 'project'));
    this.place.write('home/.gitconfig', '[user]\n\tname = An Agent\n\temail = agent@example.invalid\n');
    this.place.write('WORKFLOW.md', workflowOf(options));
  }

  /** Files an issue for each script, which its agent runs in its workspace before it moves the issue to review. */
  async file(...scripts: string[]): Promise<void> {
    await this.#add(scripts, ['move review']);
  }

  /** Like `file`, for agents that never move their issue. */
  async fileForEver(...scripts: string[]): Promise<void> {
    await this.#add(scripts, []);
  }

  async #add(scripts: readonly string[], last: readonly string[]): Promise<void> {
    const lines = scripts.map((script) => {
      this.#filed += 1;
      const name = `scripts/${this.#filed}.sh`;
      this.place.write(name, `set -e\n${script}\n`);
      const description = ['```rehearsal', `run sh ../../${name}`, ...last, '```'].join('\n');
      return JSON.stringify({ title: `Issue ${this.#filed}`, description });
    });
    this.place.write('issues.jsonl', lines.join('\n'));
    await answer(this.place, 'issue', 'import', 'issues.jsonl');
  }

  query(statement: string): Row[] {
    return readStore(this.place, statement);
  }

  workspace(identifier: string): string {
    return path.join(this.workspaces, identifier);
  }

  /** Waits until every issue is in this state and no run is in progress. */
  async untilAll(status: string, daemon: Pick<RunningBaton, 'stderr'>): Promise<void> {
    await patiently(() => {
      const statuses = this.query('select status from board_issues').map((row) => row.status);
      expect(statuses, daemon.stderr()).toEqual(Array(this.#filed).fill(status));
      expect(this.query('select run_id from runs where ended_at is null'), daemon.stderr()).toEqual([]);
    });
  }

  /** Closes an issue and removes its workspace at once; by itself a daemon may do that some minutes later. */
  async closeAndPrune(identifier: string): Promise<void> {
    await answer(this.place, 'issue', 'move', identifier, 'done');
    // It is claimed until its last retry, which may remove the workspace.
    await patiently(async () => {
      if (this.names().includes(identifier)) await answer(this.place, 'workspace', 'prune', identifier);
      expect(this.names().filter((name) => name === identifier || name.startsWith('+'))).toEqual([]);
    });
  }

  /** The workspaces of these issues are gone, and nothing else of them is left. */
  async untilGone(daemon: Pick<RunningBaton, 'stderr'>, ...identifiers: string[]): Promise<void> {
    await patiently(() => {
      const names = this.names();
      for (const each of identifiers) {
        const left = names.filter((name) => name === each || name.startsWith('+'));
        expect(left, daemon.stderr()).toEqual([]);
      }
    });
  }

  /** The names in the workspace root. */
  names(): string[] {
    return existsSync(this.workspaces) ? readdirSync(this.workspaces).toSorted() : [];
  }

  /** The references of saved work in the person's repository. */
  salvaged(repository: string = this.source): string[] {
    return git(repository, 'for-each-ref', '--format=%(refname)', 'refs/baton/salvage').split('\n').filter(Boolean);
  }

  /** Checks the folders when no daemon runs. */
  checkFolders(): void {
    const state = stateFolderOf(this.place);
    const inState = (name: string): string[] => {
      const folder = path.join(state, 'git', name);
      return existsSync(folder) ? readdirSync(folder) : [];
    };
    expect(this.names().filter((name) => name.startsWith('+'))).toEqual([]);
    expect(inState('scratch')).toEqual([]);
    // Each checkout has its workspace, and each workspace its checkout.
    expect(
      inState('checkouts')
        .map((name) => name.replace(/-[0-9a-f]{16}$/, ''))
        .toSorted(),
    ).toEqual(this.names());
    for (const cache of inState('caches')) {
      expect(cache).toMatch(/^[^+]+\.git$/);
      expect(locksIn(path.join(state, 'git', 'caches', cache))).toEqual([]);
    }
    expect(locksIn(path.join(this.source, '.git'))).toEqual([]);
    expect(git(this.source, 'status', '--porcelain')).toBe('');
    expect(git(this.source, 'symbolic-ref', 'HEAD')).toBe('refs/heads/main');
    git(this.source, 'fsck', '--strict', '--connectivity-only');
    git(this.source, 'commit', '--quiet', '--allow-empty', '--message', 'a person goes on');
    expect(leftIn(this.place.folder)).toEqual([]);
  }

  [Symbol.dispose](): void {
    this.place[Symbol.dispose]();
  }
}

/** The content of everything reachable from a reference of a repository, one character per byte. */
export function reachable(repository: string): string {
  const input = git(repository, 'rev-list', '--objects', '--all', '--no-object-names');
  return execFileSync('git', ['cat-file', '--batch'], { cwd: repository, input }).toString('latin1');
}

/** The log lines of a daemon with this code. */
export function logged(daemon: Pick<RunningBaton, 'stderr'>, event: LogEvent): Record<string, unknown>[] {
  return jsonLines(daemon.stderr()).filter((line) => line.event === event);
}

function locksIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.lock'));
}

function workflowOf({ workspace, agent = [], hooks = [], more = [] }: WorktreeOptions): string {
  const below = (lines: readonly string[]): string[] => lines.map((line) => `  ${line}`);
  return [
    '---',
    'project: {name: worktrees}',
    'tracker: {kind: board}',
    'polling: {interval_ms: 300}',
    'workspace:',
    '  root: workspaces',
    ...below(workspace ?? ['repo: project']),
    ...(hooks.length === 0 ? [] : ['hooks:', ...below(hooks)]),
    ...more,
    'agent:',
    '  backend: rehearsal',
    '  isolation_write: [.]',
    '  read_timeout_ms: 60000',
    '  max_retry_backoff_ms: 500',
    ...below(agent),
    '---',
    '{{ issue.description }}',
  ].join('\n');
}
