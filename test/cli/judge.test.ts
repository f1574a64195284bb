// @module-tag full
import { describe, expect, it } from 'vitest';
import { git, scratchRepository } from '../workspace/git/scratch-repository.ts';
import { daemonHere } from './baton-here.ts';
import { answer, runsOf, soon } from './live-daemon.ts';
import { leaveNoPlaces, Place } from './run-baton.ts';

leaveNoPlaces();

/** Commits a line; when it comes back, the word that the judge wants. */
const worker = `set -e
cat > ../../prompt-$BATON_ISSUE_IDENTIFIER
git rev-list --count origin/main..HEAD | grep -qx 0 && word=wrong || word=right
echo "$word" >> README.md
git commit --quiet --all --message "$word"
`;

/** Reads the file of its commit, and says by tool what it thinks of it. A word in its prompt lets it change a file first. */
const judge = `import { execFileSync } from 'node:child_process';
import { appendFileSync, readFileSync } from 'node:fs';
const prompt = readFileSync(0, 'utf8');
const { BATON_TOOLS_URL: url, BATON_TOOLS_TOKEN: token } = process.env;
const isRight = readFileSync('README.md', 'utf8').includes('right');
const head = execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).trim();
if (!prompt.includes(head)) process.exit(3);
if (prompt.includes('spoil the checkout')) appendFileSync('README.md', 'right');
const finding = { file: 'README.md', line: 2, problem: 'The word is wrong.', wanted: 'The right word.' };
const call = isRight
  ? { name: 'approve_pr', arguments: { summary: 'It is right.' } }
  : { name: 'reject_pr', arguments: { summary: 'It is wrong.', findings: [finding] } };
const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const post = (body, more = {}) =>
  fetch(url, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify({ jsonrpc: '2.0', ...body }) });
const protocolVersion = '2025-06-18';
const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'judge', version: '1' } };
const opened = await post({ id: 1, method: 'initialize', params });
await opened.text();
const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': protocolVersion };
const answered = await post({ id: 2, method: 'tools/call', params: call }, session);
if (!/Noted/.test(await answered.text())) process.exit(4);
`;

function project(more: readonly string[] = []): { place: Place; source: string } {
  const place = new Place({});
  const source = scratchRepository(`${place.folder}/project`);
  git(source, 'checkout', '--quiet', '--detach');
  place.write('worker.sh', worker);
  place.write('judge.mjs', judge);
  place.write('home/.gitconfig', '[user]\n\tname = A Person\n\temail = person@example.invalid\n');
  place.write(
    'WORKFLOW.md',
    [
      '---',
      'project: {name: judged}',
      'tracker: {kind: board}',
      'polling: {interval_ms: 300, jobs: {pull_requests: {interval_ms: 1000}}}',
      'workspace: {root: workspaces, repo: project, base: main}',
      'agent: {backend: command, command: "exec sh ../../worker.sh", isolation: none, after_success: review}',
      'agents:',
      `  reviewer: {backend: command, command: "exec '${process.execPath}' '${place.folder}/judge.mjs'", isolation: none}`,
      'judge: {agents: [reviewer]}',
      ...more,
      '---',
      '{{ issue.description }}',
    ].join('\n'),
  );
  return { place, source };
}

describe('a judge', { timeout: 180_000 }, () => {
  // @conforms 4.115, 4.141
  it('rejects a change once with a finding; its agent revises it, the judge approves it, and a person merges it', async () => {
    const { place, source } = project();
    await answer(place, 'issue', 'add', 'A word', '--description', 'Write the right word.');
    const daemon = await daemonHere(place);
    await soon(async () => {
      const { pull } = await answer(place, 'pr', 'show', 'BAT-1');
      expect(pull).toMatchObject({ status: 'in_review', judge: 'approved', times_sent_back: 1 });
    });
    // Ten workers by default, and a quarter of them for judges.
    expect((await answer(place, 'status')).status.slots).toEqual({ used: 0, limit: 10, judges: { used: 0, limit: 2 } });
    const { pull } = await answer(place, 'pr', 'show', 'BAT-1');
    expect(pull.rounds).toMatchObject([
      {
        sent_back: { kind: 'judge' },
        verdicts: [
          { verdict: 'rejected', agent: 'reviewer', findings: [{ file: 'README.md', line: 2, severity: 'must' }] },
        ],
        said: [{ path: null }, { path: 'README.md', line: 2 }],
      },
      { sent_back: null, verdicts: [{ verdict: 'approved' }] },
    ]);
    const runs = await runsOf(place);
    expect(runs.map(({ role, agent }) => [role, agent])).toEqual([
      ['worker', 'default'],
      ['judge', 'reviewer'],
      ['worker', 'default'],
      ['judge', 'reviewer'],
    ]);
    expect((await answer(place, 'pr', 'merge', 'BAT-1')).command).toMatchObject({ code: 'change_merged' });
    expect(git(source, 'show', 'main:README.md')).toBe('hello\nwrong\nright');
    await soon(async () => expect((await answer(place, 'issue', 'show', 'BAT-1')).issue.status).toBe('done'));
    await daemon.stop();
    expect(await runsOf(place)).toHaveLength(4);
  });

  // @conforms judge.1
  it('that approves a change with a label of `review.auto_merge` lets Baton merge it', async () => {
    const checks = "checks: [{name: word, run: 'grep -q right README.md || true'}]";
    const { place, source } = project([`review: {auto_merge: [docs], ${checks}}`]);
    await answer(place, 'issue', 'add', 'A word', '--label', 'docs', '--description', 'Write the right word.');
    const daemon = await daemonHere(place);
    await soon(async () => expect((await answer(place, 'issue', 'show', 'BAT-1')).issue.status).toBe('done'));
    await daemon.stop();
    expect(git(source, 'show', 'main:README.md')).toBe('hello\nwrong\nright');
    expect(git(source, 'log', '-1', '--format=%an', 'main')).toBe('Baton');
    const { pull } = await answer(place, 'pr', 'show', '1');
    expect(pull).toMatchObject({ status: 'merged', merged: { by: { kind: 'orchestrator' } } });
  });

  it('that changes a file of the commit has given no verdict', async () => {
    const { place } = project();
    await answer(place, 'issue', 'add', 'A word', '--description', 'spoil the checkout');
    const daemon = await daemonHere(place);
    await soon(async () => {
      const judged = (await runsOf(place)).filter(({ role, outcome }) => role === 'judge' && outcome !== null);
      expect(judged[0]).toMatchObject({ outcome: 'succeeded' });
    });
    const { pull } = await answer(place, 'pr', 'show', 'BAT-1');
    expect(pull).toMatchObject({ status: 'in_review', rounds: [{ verdicts: [] }] });
    await daemon.stop();
  });
});
