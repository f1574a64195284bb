import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { commit, git, scratchRepository } from './git/scratch-repository.ts';
import { scratchFolder } from './scratch-folder.ts';
import { scratchWorkspaces, visit } from './scratch-workspaces.ts';

const branch = 'baton/t-1';

/** A workspace from a repository. */
async function filled() {
  const source = scratchRepository(path.join(scratchFolder(), 'project'));
  const repo = { location: source, shown: source, isLocal: true };
  const scene = scratchWorkspaces({ workspace: { repo, strategy: 'worktree', copyFrom: source } });
  const made = await scene.workspaces.prepare(visit());
  const warnings = () => scene.logger.lines.filter(({ level }) => level === 'warn');
  return { ...scene, source, made, warnings };
}

describe('the branch of a workspace', () => {
  it('is logged once when it is published, with its earlier commit', async () => {
    const { workspaces, made, logger } = await filled();
    const first = commit(made.path, { 'a.txt': '1\n' });
    expect(await workspaces.afterRun(made, visit())).toMatchObject({ outcome: 'published', branch, commit: first });
    git(made.path, 'commit', '-q', '--amend', '-m', 'better words');
    const second = git(made.path, 'rev-parse', 'HEAD');
    const home = await workspaces.bringHome(made.path, visit({}, { runId: 'r-2' }));
    expect(home).toMatchObject({ outcome: 'published', commit: second, before: first });
    const event = 'branch_published';
    expect(logger.lines).toMatchObject([
      { event, fields: { branch, commit: first, before: null } },
      { event, fields: { branch, commit: second, before: first, run_id: 'r-2', issue_identifier: 'T-1' } },
    ]);
    expect(await workspaces.afterRun(made, visit())).toMatchObject({ outcome: 'nothing', commit: second });
    expect(logger.lines).toHaveLength(2);
  });

  it('is logged as kept after a run, and as saved before a removal, when it is refused', async () => {
    const { workspaces, made, source, warnings } = await filled();
    const work = commit(made.path, { 'a.txt': '1\n' });
    git(source, 'checkout', '-q', '-b', branch);
    expect(await workspaces.afterRun(made, visit())).toMatchObject({ outcome: 'refused', commit: work });
    const removal = await workspaces.remove({ path: made.path, identifier: 'T-1' }, visit());
    expect(removal).toMatchObject({ outcome: 'removed', saved: [{ commits: 1 }] });
    const fields = { branch, commit: work, code: 'checked_out', reason: expect.stringContaining(source) };
    expect(warnings()).toMatchObject([
      { event: 'branch_not_published', fields },
      { event: 'branch_not_published_but_saved', fields },
    ]);
  });

  it('is logged as refused when not even the record can be read', async () => {
    const { workspaces, made, stateDir, warnings } = await filled();
    const record = path.join(path.dirname(made.gitDir ?? ''), 'checkout.json');
    expect(record.startsWith(stateDir)).toBe(true);
    rmSync(record);
    mkdirSync(record);
    const refused = { outcome: 'refused', branch: null, commit: null, reason: expect.stringContaining('EISDIR') };
    expect(await workspaces.bringHome(made.path, visit())).toMatchObject(refused);
    expect(warnings()).toHaveLength(1);
  });

  it('does not exist in a workspace without a repository', async () => {
    const { workspaces, logger } = scratchWorkspaces();
    const made = await workspaces.prepare(visit());
    expect(await workspaces.afterRun(made, visit())).toBeNull();
    expect(await workspaces.bringHome(made.path, visit())).toBeNull();
    expect(logger.lines).toEqual([]);
  });
});
