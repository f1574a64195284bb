import { describe, expect, it } from 'vitest';
import { describePull } from '../../../src/cli/pr/show-pulls.ts';
import type { PullDetail } from '../../../src/client/schema/pull.ts';
import type { PullRequest } from '../../../src/core/pull/pull-request.ts';
import type { PullFacts } from '../../../src/pulls/pull-requests.ts';
import type { ApiProject } from '../../../src/server/api/api-project.ts';
import { runStart } from '../../conformance/store.ts';
import { begun, type Scene } from '../../orchestrator/scene.ts';
import { pullDraft } from '../../store/pull-draft.ts';
import { telling } from '../../telling.ts';
import { projectOf } from './api-scene.ts';
import { readsOf } from './read-scene.ts';

const at = '/api/v1/projects/test/pulls';
const person = { kind: 'person', name: 'Ada' } as const;

function opened({ store, project }: Scene, issueId: string, over: Parameters<typeof pullDraft>[1] = {}) {
  return store.pullRequests.open(pullDraft(issueId, { project, ...over }));
}

const facts = {
  headCommit: 'head-1',
  baseCommit: 'base-2',
  mergeability: 'clean',
  conflicts: [],
  checkedOutIn: null,
  merged: null,
  isClosed: false,
  checks: null,
  reviews: [],
} as unknown as PullFacts;

const tested = [{ name: 'test', run: 'npm test', timeoutMs: null }];

function readsWith(
  stage: Scene,
  seen: Partial<PullFacts> | null,
  diffs: unknown[] = [],
  checks: ReturnType<ApiProject['pulls']['review']>['checks'] = [],
) {
  const pulls: ApiProject['pulls'] = {
    review: () => ({ checks, mergeMethod: 'squash' }),
    facts: async () => (seen === null ? null : { ...facts, ...seen }),
    diff: async (pull: PullRequest, since) => {
      diffs.push([pull.number, since?.headCommit ?? null]);
      return { base: null, head: null, branch: null, files: [], is_cut: false, why_none: null };
    },
  };
  return readsOf([projectOf(stage, 'test', { pulls })]);
}

describe('the list of pull requests', () => {
  it('has the open ones, newest first, page by page, and with `all` those that ended', async () => {
    const stage = await begun({ issues: [] });
    for (const issue of ['a', 'b', 'c']) await opened(stage, issue);
    await stage.store.pullRequests.close({ project: stage.project, number: 2 }, { at: 20, by: person });
    const { get } = readsWith(stage, {});
    const numbers = (page: { pulls: { number: number }[] }): number[] => page.pulls.map(({ number }) => number);
    const first = await get(`${at}?limit=1`);
    expect(numbers(first)).toEqual([3]);
    const second = await get(`${at}?limit=1&cursor=${first.next}`);
    expect([numbers(second), second.next]).toEqual([[1], null]);
    expect(numbers(await get(`${at}?status=all`))).toEqual([3, 2, 1]);
    expect(first.pulls[0]).toMatchObject({ issue_identifier: 'T-c', status: 'in_review', checks: 'none' });
  });
});

describe('a pull request', () => {
  it('is found by its number, and by its issue that has a run', async () => {
    const stage = await begun({ issues: [] });
    await opened(stage, 'a');
    await stage.store.runs.start(
      runStart('run of a', { project: stage.project, issueId: 'a', identifier: 'T-a', startedAt: 5 }),
    );
    const { get, refused } = readsWith(stage, {});
    expect((await get(`${at}/1`)).number).toBe(1);
    expect((await get(`${at}/T-a`)).number).toBe(1);
    expect(await refused(`${at}/2`)).toEqual([404, 'pull_not_found']);
    expect(await refused(`${at}/T-b`)).toEqual([404, 'pull_not_found']);
  });

  it('is not found for an issue without one, and the next step explains that issue', async () => {
    const stage = await begun({ issues: [] });
    await stage.store.runs.start(
      runStart('run of a', { project: stage.project, issueId: 'a', identifier: 'T-a', startedAt: 5 }),
    );
    const { ask } = readsWith(stage, {});
    const nextStep = async (address: string): Promise<string> => (await (await ask(address)).json()).error.next_step;
    expect(await nextStep(`${at}/T-a`)).toContain('`baton explain T-a`');
    expect(await nextStep(`${at}/T-b`)).not.toContain('baton explain');
  });

  it('is marked where it changes files that control agents or CI, for the person who merges it', async () => {
    const stage = await begun({ issues: [] });
    await opened(stage, 'a');
    const { store, project } = stage;
    const { get } = readsWith(stage, {});
    const publish = async (runId: string, governing?: readonly string[] | null) => {
      await store.runs.start(runStart(runId, { project, issueId: 'a', identifier: 'T-a' }));
      const publication = { branch: 'b', commit: 'c', before: null, reason: null, elsewhere: null };
      const marked = governing === undefined ? {} : { governing };
      await store.runs.noteEvidence(runId, {
        ...{ changed: true, fingerprint: null, git: null },
        publication: { ...publication, outcome: 'published', ...marked },
      });
      return await get(`${at}/1`);
    };
    const place = { cwd: '/', batonPath: 'baton', env: {} };
    const detail = await publish('r1', ['WORKFLOW.md', '.github/workflows/\u001bci.yml']);
    expect(detail.governing).toEqual(['WORKFLOW.md', '.github/workflows/\u001bci.yml']);
    const shown = (pull: PullDetail) => describePull(pull, {}, place).filter((line) => /^ {2}read /.test(line));
    expect(shown(detail)).toEqual([expect.stringMatching(/WORKFLOW\.md.*␛ci\.yml/)]);
    expect(await publish('r2', null)).toMatchObject({ governing: null });
    const fixed = await publish('r3');
    expect([fixed.governing, shown(fixed)]).toEqual([undefined, []]);
  });

  it('has its rounds with the checks of each commit, and the verdict of the head alone', async () => {
    const stage = await begun({ issues: [] });
    const { pullRequests, checks } = stage.store;
    const pull = await opened(stage, 'a');
    await checks.plan(pull, 'head-1', [{ name: 'test', command: 'npm test' }]);
    await checks.end(pull, 'head-1', 'test', { at: 12, result: 'failed', exitCode: 1, output: 'no' });
    await pullRequests.sendBack(pull, 'head-1', { at: 13, by: { kind: 'orchestrator' }, kind: 'check' });
    await pullRequests.stand(pull, { headCommit: 'head-2', baseCommit: 'base-1', at: 20, runId: null });
    await checks.plan(pull, 'head-2', [{ name: 'test', command: 'npm test' }]);
    const { get } = readsWith(stage, { headCommit: 'head-2' });
    const shown = await get(`${at}/1`);
    expect(shown).toMatchObject({ status: 'in_review', checks: 'waiting', times_sent_back: 1, sent_back: null });
    expect(shown.rounds).toMatchObject([
      { round: 1, head: 'head-1', sent_back: { kind: 'check' }, checks: [{ result: 'failed', exit_code: 1 }] },
      { round: 2, head: 'head-2', sent_back: null, checks: [{ result: null }] },
    ]);
  });

  it('shows the tokens and the cost of all runs of its issue', async () => {
    const stage = await begun({ issues: [] });
    const { store, project } = stage;
    await opened(stage, 'a');
    const none = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, reasoningTokens: 0 };
    const spend = (issueId: string) =>
      store.usage.add({
        ...{ project, issueId, day: '2026-11-15', role: 'worker', runs: 1 },
        ...{ ...none, totalTokens: 30, costMicroUsd: 1_500_000 },
      });
    for (const issueId of ['a', 'a', 'b']) await spend(issueId);
    const detail = await readsWith(stage, {}).get(`${at}/1`);
    expect(detail.usage).toMatchObject({ runs: 2, total_tokens: 60, cost_usd: 3 });
    const [line] = describePull(detail, {}, { cwd: '/', batonPath: 'baton', env: {} }).filter((each) =>
      each.startsWith('  cost'),
    );
    expect(line).toEqual(telling(2, 60, '$3.00'));
  });

  it('shows how long each check took, and the end of the output of one of its last round that did not pass', async () => {
    const stage = await begun({ issues: [] });
    const { checks, pullRequests } = stage.store;
    const pull = await opened(stage, 'a');
    const end = async (commit: string, name: string, result: 'passed' | 'failed', output: string) => {
      await checks.plan(pull, commit, [{ name, command: name }]);
      await checks.start(pull, commit, name, 1_000);
      await checks.end(pull, commit, name, { at: 4_500, result, exitCode: 1, output });
    };
    await end('head-1', 'old', 'failed', 'of the first round');
    await pullRequests.stand(pull, { headCommit: 'head-2', baseCommit: 'base-1', at: 20, runId: null });
    const long = Array.from({ length: 30 }, (_, line) => `line ${line}`).join('\n');
    await end('head-2', 'test', 'failed', `${long}\nlast \u001b[2J\n`);
    await end('head-2', 'lint', 'passed', 'all is well');
    const shown = describePull(
      await readsWith(stage, {}).get(`${at}/1`),
      {},
      { cwd: '/', batonPath: 'baton', env: {} },
    );
    expect(shown.filter((line) => line.includes('3.5 s')).map((line) => line.trim().split(/ +/).slice(0, 2))).toEqual([
      ['failed', 'old'],
      ['passed', 'lint'],
      ['failed', 'test'],
    ]);
    const output = shown.filter((line) => /^ {10,}\| /.test(line));
    expect([output.length, output.at(0)?.endsWith('line 21'), output.at(-1)?.endsWith('last ␛[2J')]).toEqual([
      10,
      true,
      true,
    ]);
    expect(shown).toContain('  baton pr diff 1 --since-round 1');
  });

  it('waits for a check that the settings want and that is not planned yet, while its head stands', async () => {
    const stage = await begun({ issues: [] });
    const pull = await opened(stage, 'a');
    const { get } = readsWith(stage, {}, [], tested);
    expect((await get(at)).pulls).toMatchObject([{ checks: 'waiting' }]);
    const waiting = { name: 'test', command: 'npm test', started_at: null, result: null };
    expect(await get(`${at}/1`)).toMatchObject({ checks: 'waiting', rounds: [{ checks: [waiting] }] });
    await stage.store.pullRequests.sendBack(pull, 'head-1', { at: 13, by: person, kind: 'person' });
    expect(await get(`${at}/1`)).toMatchObject({ checks: 'none', rounds: [{ checks: [] }] });
  });

  it.each([
    [{}, true, 'clean'],
    [{ mergeability: 'behind' }, true, 'behind'],
    [{ mergeability: 'conflict', conflicts: ['a.txt'] }, false, 'conflict'],
    [{ checkedOutIn: '/home/me/my repo' }, false, 'checked_out'],
    [{ headCommit: 'head-9' }, false, 'head_moved'],
    [{ headCommit: null }, false, 'head_gone'],
    [{ checks: [{ id: 1, name: 'ci', result: 'passed', isRequired: true, url: null }] }, true, 'clean'],
    [{ checks: [{ id: 1, name: 'ci', result: null, isRequired: true, url: null }] }, false, 'checks_missing'],
    [{ baseCommit: null }, false, 'base_gone'],
  ] as const)('with %j can be merged: %s (%s)', async (seen, isPossible, code) => {
    const stage = await begun({ issues: [] });
    await opened(stage, 'a');
    const { merge } = await readsWith(stage, seen).get(`${at}/1`);
    expect(merge).toMatchObject({ is_possible: isPossible, code, method: 'squash' });
    if (code !== 'checked_out') return;
    // The folder reaches a shell, so it is quoted.
    expect(merge.commands).toEqual(["cd '/home/me/my repo'", 'baton pr merge 1 --workflow /w/WORKFLOW.md']);
    const { merge: here } = await readsWith(stage, { checkedOutIn: '/w' }).get(`${at}/1`);
    expect(here.commands).toEqual(['cd /w', 'baton pr merge 1']);
  });

  it('names the checks that keep it from a merge, of Baton and of its host, and the option that ignores them', async () => {
    const stage = await begun({ issues: [] });
    await opened(stage, 'a');
    const ofHost = (result: 'failed' | 'passed' | null) => ({
      checks: [{ id: 1, name: 'build', result, isRequired: false, url: null }],
    });
    const read = async (result: 'failed' | 'passed' | null, ...more: [[], typeof tested] | []) =>
      (await readsWith(stage, ofHost(result), ...more).get(`${at}/1`)).merge;
    const ignoring = ['baton pr merge 1 --ignore-checks'];
    expect(await read('failed')).toMatchObject({
      missing_checks: [{ name: 'build', result: 'failed' }],
      commands: ignoring,
    });
    expect(await read(null, [], tested)).toMatchObject({
      missing_checks: [
        { name: 'build', result: null },
        { name: 'test', result: null },
      ],
      commands: ignoring,
    });
    expect(await read('passed')).toMatchObject({ missing_checks: [], commands: ['baton pr merge 1'] });
  });

  it('that has ended, or whose host cannot be read, does not say whether it can be merged', async () => {
    const stage = await begun({ issues: [] });
    const pull = await opened(stage, 'a');
    expect((await readsWith(stage, null).get(`${at}/1`)).merge).toBeNull();
    await stage.store.pullRequests.merged(pull, { at: 30, by: person, commit: 'merged', method: 'merge' });
    const shown = await readsWith(stage, {}).get(`${at}/1`);
    expect(shown).toMatchObject({ status: 'merged', merge: null, merged: { by: { name: 'Ada' }, commit: 'merged' } });
  });

  it('shows its diff against the base, or since a round that it had', async () => {
    const stage = await begun({ issues: [] });
    const pull = await opened(stage, 'a');
    await stage.store.pullRequests.stand(pull, { headCommit: 'head-2', baseCommit: 'base-1', at: 20, runId: null });
    const diffs: unknown[] = [];
    const { get, refused } = readsWith(stage, {}, diffs);
    await get(`${at}/1/diff`);
    await get(`${at}/1/diff?since_round=1`);
    expect(diffs).toEqual([
      [1, null],
      [1, 'head-1'],
    ]);
    expect(await refused(`${at}/1/diff?since_round=3`)).toEqual([404, 'pull_not_found']);
  });
});
