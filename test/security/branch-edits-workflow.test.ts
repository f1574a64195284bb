// @module-tag one-way
import { lstatSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Clock } from '../../src/clock/clock.ts';
import type { Logger } from '../../src/core/logger.ts';
import { causesIn, type NeedsYouFact } from '../../src/core/notify/notify-cause.ts';
import { governingFiles } from '../../src/core/run/governing-files.ts';
import { publicationText } from '../../src/core/run/run-evidence.ts';
import { isIsolatedFromWorkflow, takeOwnEdits } from '../../src/daemon/own-edits.ts';
import { type IsolationRule, isolationPlan } from '../../src/process/isolation/isolation-plan.ts';
import { reviews } from '../../src/server/api/present/needs-you.ts';
import { WorkflowFile } from '../../src/workflow/workflow-file.ts';
import { publishAndLog } from '../../src/workspace/publish-and-log.ts';
import { runStart } from '../conformance/store.ts';
import { issue as storedIssue } from '../fake/issues.ts';
import { memoryLogger } from '../fake/memory-logger.ts';
import { scratchStore } from '../fake/scratch-store.ts';
import { settings } from '../fake/settings.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';
import { givenContext } from '../workflow/given.ts';
import { commit, git, scratchCheckouts, scratchRepository } from '../workspace/git/scratch-repository.ts';
import { scratchFolder } from '../workspace/scratch-folder.ts';

const issue = { id: 'i', identifier: 'T-1', title: 'docs: tidy' };

/** A repository with these files, the checkout of an issue, and its publication. Without a workflow file there is a link. */
async function scene(files: Readonly<Record<string, string>> = { 'WORKFLOW.md': 'good\n' }) {
  const folder = scratchFolder();
  const source = scratchRepository(path.join(folder, 'source'));
  if (!('WORKFLOW.md' in files)) symlinkSync('docs/real.md', path.join(source, 'WORKFLOW.md'));
  commit(source, files);
  const scratch = scratchCheckouts(folder, source);
  const place = scratch.workspace('T-1');
  await scratch.checkouts.make({ workspace: place, branch: 'baton/t-1' });
  const publish = () => publishAndLog(place, { issue, runId: 'r', attempt: null }, 'stays', scratch);
  return { ...scratch, folder, source, place, publish };
}

describe('an agent commits a hook into the file that governs it, for a person to merge', () => {
  // @conforms workflow.12
  it('and the published branch is marked in the record of the run, in words and in the log', async () => {
    const { place, publish, logger } = await scene();
    commit(place, { 'README.md': 'tidy\n', 'WORKFLOW.md': 'hooks: {before_run: evil}\n', '.codex/config.toml': 'x' });
    const publication = (await publish()) ?? expect.fail();
    expect(publication).toMatchObject({ outcome: 'published', governing: ['WORKFLOW.md', '.codex/config.toml'] });
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
  'opencode.json',
  '.opencode/plugin/a.js',
  'Jenkinsfile',
])('%s governs agents or CI', (name) => {
  expect(governingFiles(['README.md', name, 'src/workflow.ts'], ['flow.md'])).toEqual([name]);
});

it.each([
  ['what it changes', ['WORKFLOW.md', '.github/\u001bci.yml'], 'WORKFLOW.md, .github/␛ci.yml'],
  ['that it could not be read', null, 'could not read'],
])('a review that waits says %s, in the list and in the notification', (_what, files, words) => {
  const waiting = storedIssue({ id: 'i' });
  const governing = new Map([[waiting.id, files]]);
  const none = { held: [], running: [], retrying: [], pulls: new Map() };
  const [row = expect.fail()] = reviews({ ...none, reviews: [waiting], governing } as never);
  expect(row).toMatchObject({ kind: 'review', governing: files });
  expect(row.reason).toContain(words);
  const { key, code, reason, kind, actions } = row;
  const fact: NeedsYouFact = {
    ...{ key, code, reason, kind, actions, since: 1, issue: null, runId: null, questionId: null, repeats: null },
  };
  const [cause] = causesIn(
    { at: 1, needsYou: [fact], finished: [], isComplete: true },
    { at: 1, problems: new Map(), daemon: 'd' },
  );
  expect(cause?.reason).toContain(words);
});

it('a view isolates agents from the workflow file unless a folder above the file may be written', async () => {
  const folder = scratchFolder();
  const file = path.join(folder, 'WORKFLOW.md');
  writeFileSync(file, '');
  const isIsolated = (...rules: IsolationRule[]) =>
    isIsolatedFromWorkflow(() => isolationPlan(rules), settings(), file);
  expect(await isIsolatedFromWorkflow(() => null, settings(), file)).toBe(false);
  expect(await isIsolated({ path: '/', access: 'read' })).toBe(true);
  expect(await isIsolated({ path: folder, access: 'write' })).toBe(false);
  expect(await isIsolated({ path: folder, access: 'write' }, { path: file, access: 'read' })).toBe(true);
});

describe('a change of the workflow file where agents are isolated from it', () => {
  const front = 'tracker: {kind: memory}\nagent: {backend: command, command: my-agent}';
  const text = (more = ''): string => `---\n${front}\n${more}---\nDo it.\n`;
  const evil = text('hooks: {before_run: evil}\n');

  /** The real file in the real repository, with the real record of runs; only the isolation is assumed. */
  async function governed(files: Readonly<Record<string, string>>, isIsolated = true) {
    const { folder, source, place, publish } = await scene(files);
    const file = path.join(source, 'WORKFLOW.md');
    const [clock, logger] = [new SimulatedClock(), memoryLogger()];
    const [store, workflow] = [await scratchStore(clock), await startFile(file, clock, logger)];
    const project = (await store.projects.ensure('p', 0)).id;
    // Each decision ends with a look at the record, or before it.
    const decided: Promise<unknown>[] = [];
    const governedFiles: typeof store.runs.governedFiles = (id) => {
      const found = store.runs.governedFiles(id);
      decided.push(found);
      return found;
    };
    onTestFinished(
      takeOwnEdits({ source: workflow, runs: { governedFiles }, project, logger, isIsolated: async () => isIsolated }),
    );
    return {
      folder,
      source,
      place,
      file,
      /** A run of the agent: it commits these files to its branch, and a person merges them. */
      merge: async (changed: Readonly<Record<string, string>>) => {
        commit(place, changed);
        const publication = (await publish()) ?? expect.fail();
        await store.runs.start({ ...runStart('r'), project });
        await store.runs.noteEvidence('r', { changed: true, fingerprint: null, git: null, publication });
        git(source, 'merge', '-q', '--no-edit', 'baton/t-1');
      },
      /** The hook that is in force after Baton read the file. */
      hook: async () => {
        workflow.read();
        await setImmediate();
        await Promise.all(decided);
        await setImmediate();
        return workflow.read().workflow.settings.hooks.beforeRun;
      },
      waits: () => workflow.read().waiting?.settings.map(({ key }) => key) ?? [],
    };
  }

  it('counts at once: only a person can have made it', async () => {
    const { file, merge, hook } = await governed({ 'WORKFLOW.md': text() });
    await merge({ 'AGENTS.md': 'be brief\n' });
    writeFileSync(file, evil);
    expect(await hook()).toBe('evil');
  });

  it('waits once it may have come by a merge, however many other such files the branch changes', async () => {
    const { merge, hook, waits } = await governed({ 'WORKFLOW.md': text() });
    const many = Array.from({ length: 25 }, (_, index) => [`.claude/${index}.md`, 'x\n']);
    await merge({ ...Object.fromEntries(many), 'WORKFLOW.md': evil });
    expect(await hook()).toBeNull();
    expect(waits()).toEqual(['hooks.before_run']);
  });

  it('waits where the file is a link, as a branch may change the file behind it', async () => {
    const { source, merge, hook, waits } = await governed({ 'docs/real.md': text() });
    expect(lstatSync(path.join(source, 'WORKFLOW.md')).isSymbolicLink()).toBe(true);
    await merge({ 'docs/real.md': evil });
    expect(await hook()).toBeNull();
    expect(waits()).toEqual(['hooks.before_run']);
  });

  it('waits where they are not isolated', async () => {
    const { file, hook, waits } = await governed({ 'WORKFLOW.md': text() }, false);
    writeFileSync(file, evil);
    expect(await hook()).toBeNull();
    expect(waits()).toEqual(['hooks.before_run']);
  });
});

async function startFile(file: string, clock: Clock, logger: Logger): Promise<WorkflowFile> {
  const started = await WorkflowFile.start({ path: file, context: givenContext({}), clock, logger });
  onTestFinished(() => started.stop());
  return started;
}
