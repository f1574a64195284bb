import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { governingFiles } from '../../src/core/run/governing-files.ts';
import { publicationText } from '../../src/core/run/run-evidence.ts';
import type { WaitingChanges } from '../../src/core/workflow.ts';
import { isIsolatedFromWorkflow, takeOwnEdits } from '../../src/daemon/own-edits.ts';
import { type IsolationRule, isolationPlan } from '../../src/process/isolation/isolation-plan.ts';
import { publishAndLog } from '../../src/workspace/publish-and-log.ts';
import { memoryLogger } from '../fake/memory-logger.ts';
import { settings } from '../fake/settings.ts';
import { commit, git, scratchCheckouts, scratchRepository } from '../workspace/git/scratch-repository.ts';
import { scratchFolder } from '../workspace/scratch-folder.ts';

const issue = { id: 'i', identifier: 'T-1', title: 'docs: tidy' };

async function scene() {
  const folder = scratchFolder();
  const source = scratchRepository(path.join(folder, 'source'));
  const scratch = scratchCheckouts(folder, source);
  const place = scratch.workspace('T-1');
  await scratch.checkouts.make({ workspace: place, branch: 'baton/t-1' });
  const publish = () => publishAndLog(place, { issue, runId: 'r', attempt: null }, 'stays', scratch);
  return { ...scratch, place, publish };
}

describe('an agent commits a hook into the file that governs it, for a person to merge', () => {
  // @conforms workflow.12
  it('and the published branch is marked in the record of the run, in words and in the log', async () => {
    const { place, publish, logger } = await scene();
    commit(place, { 'README.md': 'tidy\n', 'WORKFLOW.md': 'hooks: {before_run: evil}\n', '.codex/config.toml': 'x' });
    const publication = (await publish()) ?? expect.fail();
    expect(publication).toMatchObject({ outcome: 'published', governing: ['.codex/config.toml', 'WORKFLOW.md'] });
    expect(publicationText(publication, false)).toContain('WORKFLOW.md');
    expect(logger.lines.filter(({ event }) => event === 'branch_governs')).toMatchObject([
      { level: 'warn', fields: { files: publication.governing } },
    ]);
    // The next run adds nothing, and the branch still has it.
    expect(await publish()).toMatchObject({ outcome: 'nothing', governing: publication.governing });
  });

  it('and hides nothing by moving HEAD to where it began', async () => {
    const { place, publish } = await scene();
    commit(place, { 'WORKFLOW.md': 'evil\n' });
    git(place, 'checkout', '-q', '--detach', 'HEAD~1');
    expect(await publish()).toMatchObject({ outcome: 'published', governing: ['WORKFLOW.md'] });
  });

  it('and other changes are not marked', async () => {
    const { place, publish, logger } = await scene();
    commit(place, { 'src/agents.ts': '1', 'docs/github.md': '2' });
    expect(await publish()).not.toHaveProperty('governing');
    expect(logger.events()).not.toContain('branch_governs');
  });
});

it.each([
  'WORKFLOW.md',
  'ops/flow.md',
  'packages/a/AGENTS.md',
  'CLAUDE.md',
  'agents.MD',
  '.claude/settings.json',
  'sub/.mcp.json',
  '.github/workflows/ci.yml',
  '.gitlab-ci.yml',
  'Jenkinsfile',
])('%s governs agents or CI', (name) => {
  expect(governingFiles(['README.md', name, 'src/workflow.ts'], 'flow.md')).toEqual([name]);
});

it('a view isolates agents from the workflow file unless a folder above the file may be written', () => {
  const folder = scratchFolder();
  const file = path.join(folder, 'WORKFLOW.md');
  writeFileSync(file, '');
  const isIsolated = (...rules: IsolationRule[]) =>
    isIsolatedFromWorkflow(() => isolationPlan(rules), settings(), file);
  expect(isIsolatedFromWorkflow(() => null, settings(), file)).toBe(false);
  expect(isIsolated({ path: '/', access: 'read' })).toBe(true);
  expect(isIsolated({ path: folder, access: 'write' })).toBe(false);
  expect(isIsolated({ path: folder, access: 'write' }, { path: file, access: 'read' })).toBe(true);
});

describe('a change of the workflow file where agents are isolated from it', () => {
  const waiting: WaitingChanges = { revision: 'r2', since: 0, settings: [] };
  const workflow = { path: '/repo/WORKFLOW.md', settings: settings() };

  async function taken(isIsolated: boolean, governing: readonly (readonly string[] | null)[]): Promise<unknown[]> {
    const takeWaiting = vi.fn();
    let changed = (): void => {};
    const governingPublications = vi.fn(async () => governing.map((files) => ({ governing: files })));
    takeOwnEdits({
      source: {
        read: () => ({ workflow, problem: null, waiting }),
        takeWaiting,
        onChange: (listener: () => void) => {
          changed = listener;
          return () => {};
        },
      } as never,
      runs: { governingPublications } as never,
      project: 'p',
      logger: memoryLogger(),
      isIsolated: () => isIsolated,
    });
    changed();
    await vi.waitFor(() => expect(governingPublications).toHaveBeenCalledTimes(isIsolated ? 1 : 0));
    await Promise.resolve();
    return takeWaiting.mock.calls;
  }

  it('counts at once: only a person can have made it', async () => {
    expect(await taken(true, [['AGENTS.md']])).toEqual([['r2']]);
  });

  it('waits once a published branch touches the file, for it may have come by a merge', async () => {
    expect(await taken(true, [['workflow.MD']])).toEqual([]);
    expect(await taken(true, [null])).toEqual([]);
  });

  it('waits where they are not isolated', async () => {
    expect(await taken(false, [])).toEqual([]);
  });
});
