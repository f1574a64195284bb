import { git, scratchRepository } from '../workspace/git/scratch-repository.ts';
import { Place } from './run-baton.ts';

/**
 * One program for all roles. As the agent of an intake it proposes an issue for each wish of the text, as a planner it splits
 * its issue in two, the second after the first; as a worker it commits a file.
 */
export const agent = `import { execFileSync } from 'node:child_process';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
const prompt = readFileSync(0, 'utf8');
appendFileSync(process.argv[2] + '/prompts.txt', JSON.stringify({ role: process.env.BATON_ROLE ?? 'worker', prompt }) + '\\n');
const { BATON_TOOLS_URL: url, BATON_TOOLS_TOKEN: token } = process.env;
const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const post = (body, more = {}) =>
  fetch(url, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify({ jsonrpc: '2.0', ...body }) });
const call = async (name, args) => {
  const protocolVersion = '2025-06-18';
  const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'agent', version: '1' } };
  const opened = await post({ id: 1, method: 'initialize', params });
  await opened.text();
  const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': protocolVersion };
  const listed = await (await post({ id: 2, method: 'tools/list', params: {} }, session)).text();
  writeFileSync(process.argv[2] + '/tools.txt', [...listed.matchAll(/"name":"(\\w+)","description/g)].map((each) => each[1]).join(' '));
  return (await post({ id: 3, method: 'tools/call', params: { name, arguments: args } }, session)).text();
};
if (process.env.BATON_ROLE === 'intake') {
  if (prompt.includes('CRASH')) process.exit(7);
  const issues = [...prompt.matchAll(/^wish: (.*)$/gm)].map(([, title]) => ({
    title,
    description: 'Somebody wants this.',
    acceptance_criteria: [title + ' works'],
    duplicate_of: title === 'Dark mode' ? 'BAT-1' : null,
  }));
  await call('propose_issues', { issues });
} else if (process.env.BATON_ROLE === 'planner') {
  const subtasks = ['Lay the ground', 'Build on it'].map((title, at) => ({ title, description: title, blocked_by: at === 0 ? [] : [at] }));
  await call('create_subtasks', { summary: 'In two', subtasks });
} else {
  writeFileSync('work-' + process.env.BATON_ISSUE_IDENTIFIER + '.txt', prompt);
  execFileSync('git', ['add', '.']);
  execFileSync('git', ['commit', '--quiet', '--message', 'Work']);
}
`;

/** A daemon on the board can work here; `more` are lines of the workflow file. */
export function intakeScene(...more: readonly string[]): { readonly place: Place; readonly source: string } {
  const place = new Place({});
  const source = scratchRepository(`${place.folder}/project`);
  git(source, 'checkout', '--quiet', '--detach');
  place.write('agent.mjs', agent);
  place.write('home/.gitconfig', '[user]\n\tname = A Person\n\temail = person@example.invalid\n');
  const command = `exec '${process.execPath}' '${place.folder}/agent.mjs' '${place.folder}'`;
  place.write(
    'WORKFLOW.md',
    [
      '---',
      'project: {name: intake}',
      'tracker: {kind: board}',
      'polling: {interval_ms: 300, jobs: {pull_requests: {interval_ms: 1000}}}',
      'workspace: {root: workspaces, repo: project, base: main}',
      `agent: {backend: command, command: "${command}", isolation: none, after_success: review}`,
      'intake: {runs_per_day: 3}',
      ...more,
      '---',
      '{{ issue.title }}',
    ].join('\n'),
  );
  return { place, source };
}
