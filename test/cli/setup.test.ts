// @module-tag full
import { describe, expect, it } from 'vitest';
import { git, scratchRepository } from '../workspace/git/scratch-repository.ts';
import { batonHere as baton, daemonHere } from './baton-here.ts';
import { answer, runsOf, soon } from './live-daemon.ts';
import {
  commitFilesOf,
  nodeProject,
  type Proposal,
  type PublishedProject,
  publishedProjects,
} from './published-projects.ts';
import { leaveNoPlaces, Place } from './run-baton.ts';

leaveNoPlaces();

/** The agent of a setup: it makes the proposals of a file one after the other, and writes down what it was answered. */
const agent = `import { existsSync, readFileSync, writeFileSync } from 'node:fs';
const folder = process.argv[2];
const prompt = readFileSync(0, 'utf8');
const { BATON_TOOLS_URL: url, BATON_TOOLS_TOKEN: token, BATON_ROLE: role } = process.env;
const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const post = (body, more = {}) =>
  fetch(url, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify({ jsonrpc: '2.0', ...body }) });
const protocolVersion = '2025-06-18';
const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'agent', version: '1' } };
const opened = await post({ id: 1, method: 'initialize', params });
await opened.text();
const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': protocolVersion };
const listed = await (await post({ id: 2, method: 'tools/list', params: {} }, session)).text();
const tools = [...listed.matchAll(/"name":"(\\w+)","description/g)].map((each) => each[1]);
// Its checkout is its own, and what it leaves there does not help its commands.
writeFileSync('only-here', '');
const answers = [];
for (const [at, proposal] of JSON.parse(readFileSync(folder + '/proposals.json', 'utf8')).entries()) {
  const call = { id: 3 + at, method: 'tools/call', params: { name: 'propose_setup', arguments: proposal } };
  const text = await (await post(call, session)).text();
  answers.push(JSON.parse(text.match(/^data: (.*)$/m)?.[1] ?? text).result);
}
writeFileSync(folder + '/heard.json', JSON.stringify({ role, prompt, tools, answers, files: existsSync('only-here') }));
`;

/** A daemon's place whose repository has the files of a published project. */
async function setupScene(project: PublishedProject, proposals: readonly Proposal[]): Promise<Place> {
  const place = new Place({ GITHUB_TOKEN: 'a-secret-of-the-person' });
  const source = scratchRepository(`${place.folder}/project`);
  await commitFilesOf(project, source);
  git(source, 'checkout', '--quiet', '--detach');
  place.write('agent.mjs', agent);
  place.write('proposals.json', JSON.stringify(proposals));
  place.write('home/.gitconfig', '[user]\n\tname = A Person\n\temail = person@example.invalid\n');
  const command = `exec '${process.execPath}' '${place.folder}/agent.mjs' '${place.folder}'`;
  place.write(
    'WORKFLOW.md',
    [
      '---',
      'project: {name: setup} # kept',
      'tracker: {kind: board}',
      'polling: {interval_ms: 300, jobs: {pull_requests: {interval_ms: 1000}}}',
      'workspace: {root: workspaces, repo: project, base: main}',
      `agent: {backend: command, command: "${command}", isolation: none, after_success: review}`,
      'setup: {runs_per_day: 4}',
      '---',
      '{{ issue.title }}',
    ].join('\n'),
  );
  return place;
}

/** The agent calls its tool with one wrong proposal and then a right one; a person accepts it. */
async function setUp(project: PublishedProject): Promise<void> {
  const { wrong, right, proof } = project;
  // Files of the agent's own checkout, and variables with secrets, are not there for its commands.
  const secrets = { name: 'secrets', run: 'test -n "$BATON_TOOLS_TOKEN$GITHUB_TOKEN"' };
  const unclean = { ...right, checks: [{ name: 'own', run: 'test -e only-here' }, secrets] };
  const place = await setupScene(project, [wrong, unclean, right]);
  const before = place.read('WORKFLOW.md');
  const daemon = await daemonHere(place);
  const { task, diff, file_changed } = await answer(place, 'setup', '--wait');
  const heard = JSON.parse(place.read('heard.json'));
  expect(heard).toMatchObject({ role: 'setup', files: true });
  expect(heard.tools.toSorted()).toEqual(['propose_setup', 'report_progress', 'report_usage']);
  const [refused, second, noted] = heard.answers.map(({ isError, content }: Heard) => ({ isError, ...content[0] }));
  expect([refused.isError, second.isError, noted.isError]).toEqual([true, true, false]);
  const { error } = JSON.parse(refused.text);
  expect(error.code).toBe('setup_not_proven');
  expect(error.details.commands).toMatchObject([{ name: 'test', result: 'failed' }]);
  expect(error.details.commands[0].exit_code).not.toBe(0);
  expect(error.details.commands[0].output).not.toBe('');
  expect(JSON.parse(second.text).error.details.commands).toMatchObject([
    { name: 'workspace.setup', result: 'passed' },
    { name: 'own', result: 'failed' },
    { name: 'secrets', result: 'failed' },
  ]);

  // What a person sees has been run; nothing is written yet.
  expect([task.status, task.open, file_changed]).toEqual(['proposed', 1, false]);
  expect(task.setup.setup).toMatchObject({ run: right.setup, exit_code: 0 });
  expect(task.setup.checks).toMatchObject(right.checks.map((each) => ({ ...each, exit_code: 0 })));
  expect(task.setup.checks[0].output).toMatch(proof);
  expect(place.read('WORKFLOW.md')).toBe(before);
  expect(diff).toContain(`+${right.notes}`);
  // The proposal is there before its run has ended.
  await soon(async () =>
    expect((await runsOf(place)).map(({ role, outcome }) => [role, outcome])).toEqual([['setup', 'succeeded']]),
  );

  const unasked = await baton(place, 'setup', 'accept', task.id, '--json');
  expect([unasked.code, JSON.parse(unasked.stdout).error.details]).toMatchObject([1, { code: 'not_agreed' }]);
  expect(place.read('WORKFLOW.md')).toBe(before);
  const accepted = await answer(place, 'setup', 'accept', task.id, '--yes');
  expect(accepted.command).toMatchObject({ code: 'setup_accepted' });
  const after = place.read('WORKFLOW.md');
  expect(after).toContain('project: {name: setup} # kept\n');
  expect(after.trimEnd().endsWith(right.notes)).toBe(true);
  const { settings } = await answer(place, 'validate', 'WORKFLOW.md');
  const inForce = (key: string) => settings.find((each: { key: string }) => each.key === key)?.value;
  expect(inForce('workspace.setup')).toBe(right.setup);
  expect(JSON.stringify(inForce('review.checks'))).toContain(right.checks[0]?.name);
  expect((await answer(place, 'setup', 'show', task.id)).task).toMatchObject({ status: 'accepted' });
  // Once more changes nothing.
  await answer(place, 'setup', 'accept', task.id, '--yes');
  expect(place.read('WORKFLOW.md')).toBe(after);
  await daemon.stop();
  expect(place.pids()).toEqual([]);
}

interface Heard {
  readonly isError: boolean;
  readonly content: readonly { readonly text: string }[];
}

const limit = { timeout: 240_000 };

describe('baton setup', () => {
  for (const project of publishedProjects) {
    // @conforms 4.138
    it.skipIf(!project.isHere)(
      `proves the commands of a published ${project.language} project with its own tests`,
      limit,
      () => setUp(project),
    );
  }

  it('writes nothing into a file that changed since, and nothing without a repository', limit, async () => {
    const place = await setupScene(nodeProject, [nodeProject.right]);
    const daemon = await daemonHere(place);
    const { task } = await answer(place, 'setup', '--wait');
    const changed = `${place.read('WORKFLOW.md')}\n\nBe kind.\n`;
    place.replace('WORKFLOW.md', changed);
    const refused = await baton(place, 'setup', 'accept', task.id, '--yes', '--json');
    expect([refused.code, JSON.parse(refused.stdout).error.details]).toMatchObject([1, { code: 'file_changed' }]);
    expect(place.read('WORKFLOW.md')).toBe(changed);
    expect((await answer(place, 'setup', 'show', task.id)).file_changed).toBe(true);
    const shown = await baton(place, 'setup', 'show', task.id);
    expect(shown.stdout).toMatch(/^workspace\.setup: exit code 0 after /m);
    await answer(place, 'setup', 'refuse', task.id);
    const { tasks } = await answer(place, 'setup', 'list');
    expect(tasks).toMatchObject([{ id: task.id, status: 'refused' }]);
    await daemon.stop();
    place.replace(
      'WORKFLOW.md',
      changed.replace(', repo: project, base: main', '').replace(', after_success: review', ''),
    );
    const without = await daemonHere(place);
    const nothing = await baton(place, 'setup', '--json');
    expect(JSON.parse(nothing.stdout).error.details).toMatchObject({ code: 'no_repository' });
    await without.stop();
  });

  it('fails without a proof, and is tried again with one command', limit, async () => {
    const place = await setupScene(nodeProject, [nodeProject.wrong]);
    const daemon = await daemonHere(place);
    const failed = await baton(place, 'setup', '--wait', '--json');
    const { task } = JSON.parse(failed.stdout);
    expect([failed.code, task]).toMatchObject([
      1,
      { status: 'failed', error: { code: 'task_unanswered' }, setup: null },
    ]);
    place.replace('proposals.json', JSON.stringify([nodeProject.right]));
    expect((await answer(place, 'setup', 'retry', task.id)).command).toMatchObject({ code: 'task_waits' });
    await soon(async () =>
      expect((await answer(place, 'setup', 'show', task.id)).task).toMatchObject({ status: 'proposed' }),
    );
    await daemon.stop();
  });
});
